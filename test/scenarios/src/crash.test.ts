// SPDX-License-Identifier: Apache-2.0

// The operator crashes at random requests while a set is deployed, scaled and deleted. The next operator may find a
// half-finished state, and must reach the same final state as without a crash.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { label } from '@grove/api'
import { inProcessTransport } from '@grove/cluster'
import { type Client, createClientOn } from '@grove/kube'
import { resources } from '@grove/operator'
import { crashingTransport } from './crashing-transport.ts'
import { type EmbeddedCluster, startEmbeddedCluster } from './embedded-cluster.ts'
import { Harness } from './harness.ts'
import { grouped } from './scenarios/manifests.ts'
import { seeded } from './seeded.ts'

const rounds = Number(process.env.CRASHES ?? 12)
const seed = Number(process.env.SEED ?? 1)
/** The crash happens within this number of requests. */
const withinRequests = 60

describe(`an operator that crashes ${rounds} times (SEED=${seed})`, () => {
  let embedded: EmbeddedCluster
  let client: Client
  const below = seeded(seed)

  before(async () => {
    embedded = await startEmbeddedCluster()
    client = embedded.client
  })
  after(() => embedded?.stop())

  test('reaches the same state as an operator that does not crash', async () => {
    for (let round = 0; round < rounds; round++) {
      const namespace = `crash-${round}`
      await embedded.newNamespace(namespace)
      const harness = await brokenOff(namespace, async broken => {
        await broken.apply(grouped)
      })
      try {
        const pods = await harness.untilReady('grouped', 10)
        const places = pods.map(
          pod => `${pod.metadata.labels?.[label.podClique]}/${pod.metadata.labels?.[label.podIndex]}`,
        )
        assert.equal(new Set(places).size, 10, `two pods with one index: ${places.sort().join(' ')}`)
        await harness.untilAvailable('grouped', 1)
      } finally {
        await harness.stopOperator()
      }
      const scaled = await brokenOff(namespace, broken =>
        broken.scale(resources.podCliqueScalingGroups as never, 'grouped-0-eng', 1 + below(3)),
      )
      try {
        const wanted = (await scaled.groups('grouped'))[0]!.spec.replicas
        await scaled.untilReady('grouped', 2 + 4 * wanted)
      } finally {
        await scaled.stopOperator()
      }
      const gone = await brokenOff(namespace, broken => broken.deleteSet('grouped'))
      try {
        for (const resource of [resources.pods, resources.podCliques, resources.podGangs, resources.services])
          await gone.until(
            `no ${resource.kind}`,
            () => gone.list(resource as never, 'grouped'),
            found => found.length === 0,
          )
      } finally {
        await gone.stopOperator()
      }
    }
  })

  /** Runs an action under an operator that crashes during it, then starts one that does not crash. */
  async function brokenOff(namespace: string, act: (harness: Harness) => Promise<unknown>): Promise<Harness> {
    const died = Promise.withResolvers<void>()
    const requests = 1 + below(withinRequests)
    const transport = crashingTransport(
      inProcessTransport(embedded.cluster.handle),
      requests,
      below(2) === 0,
      died.resolve,
    )
    const broken = new Harness({ client, operatorClient: createClientOn(transport), namespace, writes: [] })
    await broken.startOperator()
    await act(broken)
    // The operator may finish before the crash. Then there is nothing to wait for.
    await Promise.race([died.promise, new Promise(resolve => setTimeout(resolve, 300))])
    const heir = new Harness({
      client,
      operatorClient: createClientOn(inProcessTransport(embedded.cluster.handle)),
      namespace,
      writes: [],
    })
    await Promise.all([broken.abandonOperator(), heir.startOperator()])
    return heir
  }
})
