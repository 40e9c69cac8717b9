// SPDX-License-Identifier: Apache-2.0

// Each kind of write fails once while a set is deployed, scaled and deleted: rejected, or executed with a lost
// response. The final state is the same as without failures.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { inProcessTransport } from '@grove/cluster'
import { type Client, createClientOn, type TransportRequest } from '@grove/kube'
import { resources } from '@grove/operator'
import { type EmbeddedCluster, startEmbeddedCluster } from './embedded-cluster.ts'
import { endState } from './end-state.ts'
import { type Fault, faulty, type Outcome } from './failing-writes.ts'
import { Harness } from './harness.ts'
import { grouped } from './scenarios/manifests.ts'
import { seeded } from './seeded.ts'

/** A set with an autoscaler, a startup order, and cliques inside and outside a scaling group. */
const manifest = grouped
  .replace('template:', 'template:\n    cliqueStartupType: CliqueStartupTypeInOrder')
  .replace(
    'minAvailable: 1\n',
    'minAvailable: 1\n          autoScalingConfig: {minReplicas: 2, maxReplicas: 4}\n',
  )

const outcomes: readonly Outcome[] = [409, 500, 'lost']
/** Each kind of write fails with one outcome that the seed chooses, or with all outcomes if EVERY_OUTCOME=1. */
const everyOutcome = process.env.EVERY_OUTCOME === '1'
const seed = Number(process.env.SEED ?? 1)
const below = seeded(seed)

/** Returns for example `POST pods` or `PATCH podgangs/status`. */
function kindOf({ method, path }: TransportRequest): string {
  const [, , rest = ''] = /^\/api(?:s\/[^/]+)?\/[^/]+(\/namespaces\/[^/]+)?\/([^?]+)/.exec(path) ?? []
  const [resource = '', , subresource] = rest.split('/')
  return `${method} ${subresource ? `${resource}/${subresource}` : resource}`
}

describe(`writes that fail once (SEED=${seed})`, () => {
  let embedded: EmbeddedCluster
  let client: Client
  let lifecycles = 0

  before(async () => {
    embedded = await startEmbeddedCluster()
    client = embedded.client
  })
  after(() => embedded?.stop())

  /** Deploys a set, scales it out and in, and deletes it under these faults. Returns the state after each step. */
  async function lifecycle(fault: Fault) {
    const namespace = await embedded.newNamespace(`lifecycle-${lifecycles++}`)
    const transport = faulty(inProcessTransport(embedded.cluster.handle), () => fault, [])
    const harness = new Harness({ client, operatorClient: createClientOn(transport), namespace, writes: [] })
    await harness.startOperator()
    try {
      const states: Awaited<ReturnType<typeof endState>>[] = []
      const converged = async (pods: number) => {
        await harness.untilReady('grouped', pods)
        await harness.untilAvailable('grouped', 1)
        await harness.until(
          'the set to be up to date',
          () => harness.set('grouped'),
          set => set?.status?.updatedReplicas === 1,
        )
        await harness.until(
          'gangs that list exactly these pods',
          () => harness.gangs('grouped'),
          gangs =>
            gangs.flatMap(({ spec }) => spec.podgroups.flatMap(one => one.podReferences)).length === pods,
        )
        await harness.until(
          'the status of every clique',
          () => harness.cliques('grouped'),
          cliques => cliques.every(({ spec, status }) => status?.readyReplicas === spec.replicas),
        )
        states.push(await endState(harness, 'grouped'))
      }
      await harness.apply(manifest)
      await converged(10)
      for (const [replicas, pods] of [
        [3, 14],
        [1, 6],
      ] as const) {
        await harness.scale(resources.podCliqueScalingGroups as never, 'grouped-0-eng', replicas)
        await converged(pods)
      }
      await harness.deleteSet('grouped')
      for (const resource of [
        resources.podCliqueSets,
        resources.pods,
        resources.podCliques,
        resources.podCliqueScalingGroups,
        resources.podGangs,
        resources.services,
        resources.autoscalers,
        resources.roles,
      ])
        await harness.until(
          `no ${resource.kind}`,
          async () => (await client.list(resource as never, { namespace })).items,
          found => found.length === 0,
        )
      return states
    } finally {
      await harness.stopOperator()
    }
  }

  test('a failure of one kind of write does not change the final state', async () => {
    const kinds = new Set<string>()
    const undisturbed = await lifecycle(request => void kinds.add(kindOf(request)))
    assert.ok(kinds.has('POST pods') && kinds.has('PATCH podgangs/status'), [...kinds].join())
    for (const kind of kinds) {
      for (const outcome of everyOutcome ? outcomes : [outcomes[below(outcomes.length)]!]) {
        let failed = 0
        const states = await lifecycle(request =>
          kindOf(request) === kind && failed++ === 0 ? outcome : undefined,
        )
        assert.ok(failed > 0, `${kind} was not sent`)
        assert.deepEqual(states, undisturbed, `${kind} failed with ${outcome}`)
      }
    }
  })

  for (const outcome of outcomes)
    test(`failures of every write, once each, do not change the final state (${outcome})`, async () => {
      const undisturbed = await lifecycle(() => undefined)
      const seen = new Set<string>()
      const states = await lifecycle(request => {
        const write = `${request.method} ${request.path}`
        if (seen.has(write)) return undefined
        seen.add(write)
        return outcome
      })
      assert.ok(seen.size > 30, `${seen.size} writes failed`)
      assert.deepEqual(states, undisturbed)
    })
})
