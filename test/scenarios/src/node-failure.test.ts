// SPDX-License-Identifier: Apache-2.0

// A node fails under a running set and recovers. Eviction takes minutes and gang termination hours, so the API server,
// controllers, kubelets and operator share a clock that the test advances.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { defaultConfiguration, type Pod } from '@grove/api'
import {
  type Cluster,
  createCluster,
  inProcessTransport,
  plainNodes,
  type RunningControllers,
  startControllers,
} from '@grove/cluster'
import { type Client, createClientOn, FakeClock, type Stored } from '@grove/kube'
import { type RunningOperator, startOperator } from '@grove/operator'
import { installCustomResources } from './custom-kinds.ts'
import { nodes } from './fault-injection/round.ts'
import { Harness, isReady, waiterImage } from './harness.ts'
import { grouped } from './scenarios/manifests.ts'

const namespace = 'default'
const second = 1_000
const minute = 60 * second

describe('a node that fails under a running set', () => {
  const clock = new FakeClock()
  let cluster: Cluster
  let controllers: RunningControllers
  let operator: RunningOperator
  let client: Client
  let harness: Harness
  let lost: Stored<Pod>[]
  let victim: string

  /** Waits for work that needs no time to elapse. */
  async function finished<T>(work: Promise<T>): Promise<T> {
    let done = false
    const watched = work.finally(() => {
      done = true
    })
    watched.catch(() => {})
    for (let turn = 0; !done && turn < 10_000; turn++) await clock.advance(0)
    assert.ok(done, 'the remaining work waits for an event that does not occur')
    return watched
  }

  const connect = () => createClientOn(inProcessTransport(cluster.handle), { clock })

  const pods = () => finished(harness.pods('grouped'))
  const availableReplicas = async () => (await finished(harness.set('grouped')))?.status?.availableReplicas
  const serving = async () => (await pods()).filter(pod => isReady(pod) && !pod.metadata.deletionTimestamp)
  const on = (node: string, all: readonly Stored<Pod>[]) => all.filter(pod => pod.spec?.nodeName === node)

  before(async () => {
    cluster = createCluster({ clock, seed: 1 })
    client = connect()
    await finished(installCustomResources(client))
    controllers = await finished(
      startControllers(connect(), {
        clock,
        random: () => 0.5,
        serviceAccounts: { tokenIssuer: cluster.tokens },
      }),
    )
    await finished(controllers.fleet.add(plainNodes(3)))
    operator = await finished(
      startOperator(connect(), { configuration: defaultConfiguration(), waiterImage, clock }),
    )
    harness = new Harness({ client, operatorClient: client, namespace, writes: [] })
    await finished(harness.apply(grouped))
    await clock.advance(minute)
  })
  after(async () => {
    if (operator) await finished(operator.stop())
    if (controllers) await finished(controllers.stop())
    cluster?.stop()
  })

  it('ran some of the pods', async () => {
    const all = await serving()
    assert.equal(all.length, 10)
    victim = all[0]!.spec!.nodeName!
    lost = on(victim, all)
    assert.ok(lost.length > 0 && lost.length < 10)
    assert.equal(await availableReplicas(), 1)
  })

  it('is unreachable after one minute; its pods are not ready but still exist', async () => {
    await finished(controllers.fleet.kill(victim))
    await clock.advance(minute)
    const node = await finished(client.get(nodes, { name: victim }))
    assert.match(JSON.stringify(node.spec?.taints), /node\.kubernetes\.io\/unreachable/)
    assert.equal((await serving()).length, 10 - lost.length)
    assert.equal((await pods()).length, 10)
  })

  it('loses its pods to eviction five minutes later, and other nodes run their replacements', async () => {
    await clock.advance(6 * minute)
    const now = await serving()
    assert.equal(now.length, 10)
    assert.deepEqual(on(victim, now), [])
    for (const pod of on(victim, await pods())) assert.ok(pod.metadata.deletionTimestamp)
    assert.equal(await availableReplicas(), 1)
  })

  it('has none of the old pods when it recovers, and is schedulable again', async () => {
    await finished(controllers.fleet.revive(victim))
    await clock.advance(2 * minute)
    const node = await finished(client.get(nodes, { name: victim }))
    assert.deepEqual(node.spec?.taints ?? [], [])
    const all = await pods()
    assert.equal(all.length, 10)
    assert.deepEqual(on(victim, all), [])
    // Ready pods are never moved back.
    const uids = all.map(({ metadata }) => metadata.uid).sort()
    await clock.advance(30 * minute)
    assert.deepEqual((await serving()).map(({ metadata }) => metadata.uid).sort(), uids)
  })
})
