// SPDX-License-Identifier: Apache-2.0

// Invalid or unusual states that occur in practice. The set converges, or its status names the obstacle and the set
// continues when the obstacle is gone. The operator never retries in a tight loop.
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { defaultConfiguration, type Service } from '@grove/api'
import { inProcessTransport } from '@grove/cluster'
import { type Client, type Clock, createClientOn } from '@grove/kube'
import { resources, startOperator } from '@grove/operator'
import { type EmbeddedCluster, startEmbeddedCluster } from './embedded-cluster.ts'
import { type Fault, faulty } from './failing-writes.ts'
import { Harness } from './harness.ts'
import { PodCreations } from './pod-creations.ts'
import { grouped, solo } from './scenarios/manifests.ts'
import { SkippingClock } from './skipping-clock.ts'
import { untilUnchanged } from './unchanged.ts'

describe('bad states', () => {
  const clock = new SkippingClock()
  let embedded: EmbeddedCluster
  let client: Client
  let harness: Harness
  let fault: Fault | undefined
  let at = 0
  const requests: string[] = []

  before(async () => {
    embedded = await startEmbeddedCluster({ clock })
    client = embedded.client
  })
  after(() => embedded?.stop())
  beforeEach(async () => {
    const namespace = `bad-${at++}`
    fault = undefined
    requests.length = 0
    await embedded.newNamespace(namespace)
    const transport = faulty(inProcessTransport(embedded.cluster.handle), () => fault, requests)
    const operatorClient = createClientOn(transport, { clock })
    harness = new Harness({ client, operatorClient, namespace, writes: [], clock })
    await harness.startOperator()
  })

  /** Stops the operator even if the scenario fails. */
  const scenario = (name: string, run: () => Promise<void>) =>
    test(name, async () => {
      try {
        await run()
      } finally {
        await harness.stopOperator()
      }
    })

  scenario(
    'reports a quota that rejects pods in lastErrors, retries with few requests, and creates the pods when the quota allows it',
    async () => {
      let made = 0
      fault = ({ method, path }) =>
        method === 'POST' && path.includes('/pods') && ++made > 5 ? 403 : undefined
      await harness.apply(grouped)
      const rejected = await harness.until(
        'a clique with lastErrors',
        () => harness.cliques('grouped'),
        cliques => cliques.some(({ status }) => status?.lastErrors?.length),
      )
      const [error] = rejected.flatMap(({ status }) => status?.lastErrors ?? [])
      assert.match(error!.description, /exceeded quota: team/)
      const attempts = made
      await harness.elapse(20_000)
      assert.ok(made > attempts, 'creation is retried')
      assert.ok(made - attempts < 100, `${made - attempts} attempts to create a pod within 20 seconds`)
      fault = undefined
      // The next attempt follows the longest delay at the latest.
      await harness.elapse(20_000)
      await harness.untilReady('grouped', 10)
      await harness.until(
        'no errors left',
        () => harness.cliques('grouped'),
        cliques => cliques.every(({ status }) => !status?.lastErrors?.length),
      )
    },
  )

  for (const [what, outcome] of [
    ['conflicts', 409],
    ['internal errors', 500],
    ['time-outs', 504],
    ['lost responses', 'lost'],
  ] as const)
    scenario(`${what} on every third write do not stop a set, and every pod is created once`, async () => {
      await using creations = await PodCreations.watch(client, harness.namespace)
      fault = (_, nth) => (nth % 3 === 0 ? outcome : undefined)
      await harness.apply(grouped)
      await harness.untilReady('grouped', 10)
      fault = undefined
      await harness.untilAvailable('grouped', 1)
      await untilUnchanged(() => creations.total, 500, clock)
      assert.deepEqual([creations.total, creations.createdTwice, creations.deleted], [10, [], []])
    })

  scenario(
    'reports a Service not controlled by the set, leaves it alone, and continues when it is deleted',
    async () => {
      const ref = { name: 'solo-0', namespace: harness.namespace }
      const foreign = {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: ref,
        spec: { clusterIP: 'None', ports: [{ port: 80 }] },
      } as Service
      await client.create(resources.services, foreign)
      await harness.apply(solo)
      const set = await harness.until(
        'the obstacle in the status of the set',
        () => harness.set('solo'),
        found => (found?.status?.lastErrors ?? []).length > 0,
      )
      assert.match(JSON.stringify(set?.status?.lastErrors), /Service \S*solo-0/)
      assert.equal((await client.get(resources.services, ref)).metadata.ownerReferences, undefined)
      await client.delete(resources.services, ref)
      await harness.untilReady('solo', 2)
    },
  )

  scenario('restores children that another client edits or deletes', async () => {
    await harness.apply(solo)
    await harness.untilAvailable('solo', 1)
    const ref = { name: 'solo-0-web', namespace: harness.namespace }
    await client.patch(resources.podCliques, ref, {
      merge: {
        spec: { roleName: 'other' },
        metadata: { labels: { 'app.kubernetes.io/component': 'other' } },
      },
    })
    await client.delete(resources.services, { name: 'solo-0', namespace: harness.namespace })
    await harness.until(
      'the clique to be restored',
      () => client.get(resources.podCliques, ref),
      clique => clique.spec.roleName === 'web',
    )
    await harness.until(
      'the Service',
      () => harness.list(resources.services as never, 'solo'),
      found => found.length === 1,
    )
    const { metadata } = await client.get(resources.podCliques, ref)
    await client.delete(resources.podCliques, ref)
    await harness.until(
      'another clique',
      () => client.find(resources.podCliques, ref),
      clique => clique !== undefined && clique.metadata.uid !== metadata.uid,
    )
    await harness.untilReady('solo', 2)
  })

  scenario('does not adopt a child of a former set with the same name', async () => {
    const ref = { name: 'solo-0-web', namespace: harness.namespace }
    await client.create(resources.podCliques, {
      apiVersion: 'grove.io/v1alpha1',
      kind: 'PodClique',
      metadata: {
        ...ref,
        labels: { 'app.kubernetes.io/managed-by': 'grove-operator', 'app.kubernetes.io/part-of': 'solo' },
        ownerReferences: [
          {
            apiVersion: 'grove.io/v1alpha1',
            kind: 'PodCliqueSet',
            name: 'solo',
            uid: '00000000-0000-4000-8000-000000000000',
            controller: true,
          },
        ],
      },
      spec: {
        roleName: 'old',
        replicas: 5,
        podSpec: { containers: [{ name: 'old', image: 'registry.example/o' }] },
      },
    })
    await harness.apply(solo)
    // The garbage collector deletes the orphan, and the name is free for the new child.
    const pods = await harness.untilReady('solo', 2)
    assert.ok(pods.every(pod => pod.spec?.containers[0]?.name === 'main'))
  })

  for (const [what, skewMs] of [
    ['ahead of', 3_600_000],
    ['behind', -3_600_000],
  ] as const)
    scenario(`a clock that is an hour ${what} the cluster's changes nothing`, async () => {
      await harness.stopOperator()
      const skewedClock: Clock = {
        now: () => clock.now() + skewMs,
        monotonic: () => clock.monotonic(),
        setTimeout: (callback, ms) => clock.setTimeout(callback, ms),
        sleep: (ms, signal) => clock.sleep(ms, signal),
      }
      const operatorClient = createClientOn(inProcessTransport(embedded.cluster.handle))
      const skewed = await startOperator(operatorClient, {
        configuration: defaultConfiguration(),
        clock: skewedClock,
      })
      try {
        await harness.apply(grouped.replace('template:', 'template:\n    terminationDelay: 1s'))
        const before = await harness.untilReady('grouped', 10)
        await harness.untilAvailable('grouped', 1)
        await harness.scale(resources.podCliqueScalingGroups as never, 'grouped-0-eng', 1)
        const kept = await harness.untilReady('grouped', 6)
        for (const { metadata } of kept) assert.ok(before.some(pod => pod.metadata.uid === metadata.uid))
        await harness.edit('grouped', set => {
          set.spec.template.cliques[0]!.spec.podSpec.containers[0]!.image = 'registry.example/router:2'
        })
        await harness.until(
          'two updated routers and the other pods',
          () => harness.pods('grouped'),
          pods =>
            pods.length === 6 &&
            pods.filter(pod => pod.spec?.containers[0]?.image === 'registry.example/router:2').length === 2,
        )
        await harness.untilAvailable('grouped', 1)
        await harness.deleteSet('grouped')
        await harness.until(
          'the set to be deleted',
          () => harness.set('grouped'),
          set => set === undefined,
        )
      } finally {
        await skewed.stop()
      }
    })

  scenario('the operator sends no write for a set that has converged', async () => {
    await harness.apply(grouped)
    await harness.untilAvailable('grouped', 1)
    await untilUnchanged(() => requests.length, 1_500, clock)
    requests.length = 0
    await harness.patchSet('grouped', { metadata: { annotations: { 'grove.io/reconcile-trigger': 'now' } } })
    await untilUnchanged(() => requests.length, 1_000, clock)
    assert.deepEqual(requests, [])
  })
})
