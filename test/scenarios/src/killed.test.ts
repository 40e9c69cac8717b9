// SPDX-License-Identifier: Apache-2.0

// The operator is killed at 200 random requests while sets of 100 pods are deployed, scaled and deleted. The final
// state is the same as without kills, and no pod is created twice or replaced.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { label, type Pod } from '@grove/api'
import { inProcessTransport } from '@grove/cluster'
import { type Client, createClientOn } from '@grove/kube'
import { resources } from '@grove/operator'
import { crashingTransport } from './crashing-transport.ts'
import { type EmbeddedCluster, startEmbeddedCluster } from './embedded-cluster.ts'
import { endState } from './end-state.ts'
import { Harness } from './harness.ts'
import { PodCreations } from './pod-creations.ts'
import { seeded } from './seeded.ts'
import { untilUnchanged } from './unchanged.ts'

const deaths = Number(process.env.DEATHS ?? 200)
const seed = Number(process.env.SEED ?? 1)
/** If there is no request for this time, the operator has finished before the kill. */
const noDeathMs = 400

const hundred = `
apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata: {name: hundred}
spec:
  replicas: 2
  template:
    cliques:
      - name: router
        spec: {roleName: router, replicas: 2, podSpec: {containers: [{name: main, image: registry.example/r:1}]}}
      - name: lead
        spec: {roleName: lead, replicas: 1, podSpec: {containers: [{name: main, image: registry.example/l:1}]}}
      - name: work
        spec: {roleName: work, replicas: 3, podSpec: {containers: [{name: main, image: registry.example/w:1}]}}
    podCliqueScalingGroups:
      - {name: eng, cliqueNames: [lead, work], replicas: 12, minAvailable: 2}
`
const pods = 100
const fewer = { replicas: 8, pods: 84 }

describe(`an operator that is killed at ${deaths} moments (SEED=${seed})`, () => {
  let embedded: EmbeddedCluster
  let client: Client
  let died = 0
  const below = seeded(seed)

  before(async () => {
    embedded = await startEmbeddedCluster()
    client = embedded.client
  })
  after(() => embedded?.stop())

  test('reaches the same state as an operator that is not killed, and creates no pod twice', async () => {
    const undisturbed = await lifecycle('undisturbed', 0)
    for (let round = 0; died < deaths; round++) {
      const disturbed = await lifecycle(`killed-${round}`, 1)
      assert.deepEqual(disturbed.states, undisturbed.states, `round ${round}`)
      assert.deepEqual(disturbed.createdTwice, [], `round ${round}`)
      assert.deepEqual(disturbed.deleted, [], `round ${round}`)
    }
    assert.ok(died >= deaths)
  })

  /** Deploys, scales in, scales out and deletes a set. Each step kills the operator `often` times as often as usual. */
  async function lifecycle(namespace: string, often: number) {
    await embedded.newNamespace(namespace)
    // Pods of replicas that are scaled in and out again are recreated on purpose.
    const record = await PodCreations.watch(connect(), namespace, isScaledAway)
    const step = async (
      act: (harness: Harness) => Promise<unknown>,
      kills: { times: number; within: number },
      untilConverged: (harness: Harness) => Promise<unknown>,
    ) => {
      await broken(namespace, act, often * kills.times, kills.within)
      const harness = new Harness({ client, operatorClient: connect(), namespace, writes: [] })
      await harness.startOperator()
      try {
        await untilConverged(harness)
        return await endState(harness, 'hundred')
      } finally {
        await harness.stopOperator()
      }
    }
    const scaleTo = (replicas: number) => (harness: Harness) =>
      harness.scale(resources.podCliqueScalingGroups as never, 'hundred-0-eng', replicas)
    const ready = (count: number) => async (harness: Harness) => {
      await harness.untilReady('hundred', count)
      await harness.untilAvailable('hundred', 2)
      await harness.until(
        'both replicas to be up to date',
        () => harness.set('hundred'),
        set => set?.status?.updatedReplicas === 2,
      )
      await harness.until(
        'the status of every clique',
        () => harness.cliques('hundred'),
        cliques =>
          cliques.every(
            ({ spec, status }) =>
              status?.readyReplicas === spec.replicas && status.scheduleGatedReplicas === 0,
          ),
      )
    }
    const states = [
      await step(harness => harness.apply(hundred), { times: 56, within: 10 }, ready(pods)),
      await step(scaleTo(fewer.replicas), { times: 2, within: 4 }, ready(fewer.pods)),
      await step(scaleTo(12), { times: 8, within: 8 }, ready(pods)),
    ]
    // Deletion of the set must not count as lost pods.
    await record[Symbol.asyncDispose]()
    const { createdTwice, deleted } = record
    await step(
      harness => harness.deleteSet('hundred'),
      { times: 2, within: 4 },
      async harness => {
        for (const resource of [resources.pods, resources.podCliques, resources.podGangs, resources.services])
          await harness.until(
            `no ${resource.kind}`,
            () => harness.list(resource as never, 'hundred'),
            found => found.length === 0,
          )
      },
    )
    return { states, createdTwice, deleted }
  }

  /** Runs an action and kills one operator after the other while they work on it. */
  async function broken(
    namespace: string,
    act: (harness: Harness) => Promise<unknown>,
    times: number,
    within: number,
  ): Promise<void> {
    for (let kill = 0; kill < Math.max(1, times); kill++) {
      const death = Promise.withResolvers<true>()
      let requests = 0
      const lasts = times === 0 ? Number.POSITIVE_INFINITY : 1 + below(within)
      const transport = crashingTransport(
        inProcessTransport(embedded.cluster.handle),
        lasts,
        below(2) === 0,
        () => death.resolve(true),
      )
      const harness = new Harness({
        client,
        operatorClient: createClientOn(transport, { onRequest: () => requests++ }),
        namespace,
        writes: [],
      })
      await harness.startOperator()
      if (kill === 0) await act(harness)
      if (times > 0 && (await Promise.race([death.promise, untilUnchanged(() => requests, noDeathMs)])))
        died++
      await harness.abandonOperator()
    }
  }

  function connect(): Client {
    return createClientOn(inProcessTransport(embedded.cluster.handle))
  }
})

function isScaledAway({ metadata: { labels } }: Pod): boolean {
  return (
    labels?.[label.scalingGroup] === 'hundred-0-eng' &&
    Number(labels[label.scalingGroupReplicaIndex]) >= fewer.replicas
  )
}
