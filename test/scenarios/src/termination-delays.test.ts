// SPDX-License-Identifier: Apache-2.0

// Gang termination with delays of hours. The operator and the cluster share a clock that the test advances.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defaultConfiguration, type EventValue, type OperatorConfiguration, type Pod } from '@grove/api'
import { createCluster, inProcessTransport, plainNodes, startControllers } from '@grove/cluster'
import { createClientOn, FakeClock, type KubeObject, type Stored } from '@grove/kube'
import { type RunningOperator, startOperator } from '@grove/operator'
import { installCustomResources } from './custom-kinds.ts'
import { namespaces } from './embedded-cluster.ts'
import { nodes } from './fault-injection/round.ts'
import { allPods, manifest, setName } from './fault-injection/shape.ts'
import { Harness, isReady, waiterImage } from './harness.ts'
import { report } from './scenarios/gang-termination.ts'

const minute = 60_000
const hour = 60 * minute
const nodeNames = ['node-0', 'node-1', 'node-2']

class Hours implements AsyncDisposable {
  readonly harness: Harness
  readonly events: { readonly about: string; readonly reason: string }[] = []
  readonly #clock: FakeClock
  readonly #configuration: OperatorConfiguration
  readonly #connect: () => ReturnType<typeof createClientOn>
  readonly #end: () => Promise<void>
  #operator: RunningOperator | undefined

  private constructor(
    clock: FakeClock,
    configuration: OperatorConfiguration,
    connect: () => ReturnType<typeof createClientOn>,
    end: () => Promise<void>,
  ) {
    this.#clock = clock
    this.#configuration = configuration
    this.#connect = connect
    this.#end = end
    const client = connect()
    this.harness = new Harness({ client, operatorClient: client, namespace: 'hours', writes: [] })
  }

  /** Starts a set with a termination delay of four hours and waits until it is ready. */
  static async begin(onTotalLoss: 'Wait' | 'Recreate' = 'Wait'): Promise<Hours> {
    const clock = new FakeClock()
    const cluster = createCluster({ clock, seed: 1 })
    const connect = () => createClientOn(inProcessTransport(cluster.handle), { clock })
    const client = connect()
    await installCustomResources(client)
    await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'hours' } })
    const controllers = await turning(
      clock,
      startControllers(connect(), {
        clock,
        serviceAccounts: { tokenIssuer: cluster.tokens },
        run: [
          'scheduler',
          'kubelet',
          'heartbeats',
          'node-lifecycle',
          'garbage-collector',
          'service-accounts',
        ],
        // A heartbeat every few seconds would be most of the work.
        heartbeats: { intervalMs: hour },
        nodeLifecycle: { graceMs: 3 * hour },
      }),
    )
    await turning(clock, controllers.fleet.add(plainNodes(nodeNames.length)))
    const configuration = { ...defaultConfiguration(), gangTermination: { onTotalLoss } }
    const hours = new Hours(clock, configuration, connect, async () => {
      await turning(clock, controllers.stop())
      cluster.stop()
    })
    await hours.startOperator()
    await hours.harness.apply(manifest('4h'))
    await hours.untilReady()
    return hours
  }

  async startOperator(): Promise<void> {
    const events = {
      emit: ({ metadata }: KubeObject, _source: string, { reason }: EventValue) =>
        void this.events.push({ about: metadata?.name ?? '', reason }),
    }
    const clock = this.#clock
    const options = { configuration: this.#configuration, waiterImage, events, clock }
    this.#operator = await turning(clock, startOperator(this.#connect(), options))
  }

  async killOperator(): Promise<void> {
    await turning(this.#clock, this.#operator!.abandon())
    this.#operator = undefined
  }

  /** Lets time elapse. The first seconds elapse in small steps, so that watches deliver recent changes. */
  async pass(ms: number): Promise<void> {
    const seen = 20_000
    for (let left = Math.min(ms, seen); left > 0; left -= 100) await this.#clock.advance(100)
    if (ms > seen) await this.#clock.advance(ms - seen)
    for (let turn = 0; turn < 20; turn++) await this.#clock.flushPromises()
  }

  async untilReady(): Promise<void> {
    for (let seconds = 0; seconds < 600; seconds++) {
      await this.pass(1_000)
      const pods = await this.harness.pods(setName)
      const set = await this.harness.set(setName)
      if (pods.length === allPods && pods.every(isReady) && set?.status?.availableReplicas === 2) return
    }
    assert.fail('the set did not become ready')
  }

  /** Returns the UIDs of the cliques whose names have this prefix. */
  async cliques(prefix = setName): Promise<string[]> {
    const found = await this.harness.cliques(setName)
    return found
      .filter(({ metadata }) => metadata.name.startsWith(prefix))
      .map(({ metadata }) => metadata.uid)
      .sort()
  }

  async report(prefix: string, ready: boolean): Promise<void> {
    for (const pod of await this.#pods(prefix)) await report(this.harness, pod, ready)
  }

  /** `gone`: cordons every node and deletes its pods. `back`: makes the nodes schedulable. */
  async setNodes(state: 'gone' | 'back'): Promise<void> {
    const unschedulable = state === 'gone'
    for (const name of nodeNames)
      await this.harness.client.patch(nodes, { name }, { merge: { spec: { unschedulable } } })
    if (state === 'gone')
      for (const { metadata } of await this.#pods(setName)) await this.harness.deletePod(metadata.name)
  }

  count(reason: string): number {
    return this.events.filter(one => one.reason === reason).length
  }

  async #pods(prefix: string): Promise<Stored<Pod>[]> {
    return (await this.harness.pods(setName)).filter(({ metadata }) => metadata.name.startsWith(prefix))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.killOperator()
    await this.#end()
  }
}

/** Waits for work that needs only little time to elapse. */
async function turning<T>(clock: FakeClock, work: Promise<T>): Promise<T> {
  let done = false
  const watched = work.finally(() => {
    done = true
  })
  watched.catch(() => {})
  for (let turn = 0; !done && turn < 5_000; turn++) await clock.advance(1)
  assert.ok(done, 'the remaining work waits for an event that does not occur')
  return watched
}

const isDisjoint = (a: readonly string[], b: readonly string[]) => a.every(uid => !b.includes(uid))

test('terminates a replica after four hours below minAvailable, once, and no other replica, also if the operator restarts', async () => {
  await using hours = await Hours.begin()
  const [broken, other] = [await hours.cliques('fire-0-'), await hours.cliques('fire-1-')]
  await hours.report('fire-0-web', false)
  await hours.pass(2 * hour)
  assert.equal(hours.count('GangTerminationScheduled'), 1, 'announced in advance')
  await hours.killOperator()
  await hours.pass(hour)
  await hours.startOperator()
  await hours.pass(hour - 2 * minute)
  assert.deepEqual(await hours.cliques('fire-0-'), broken, 'not before the deadline')
  await hours.pass(3 * minute)
  assert.ok(isDisjoint(broken, await hours.cliques('fire-0-')), 'members of groups, too')
  assert.deepEqual(await hours.cliques('fire-1-'), other)
  await hours.untilReady()
  await hours.pass(5 * hour)
  assert.equal(hours.count('PodCliqueSetReplicaDeleteSuccessful'), 1)
})

test('a recovery cancels the termination in the last minute, and also while no operator runs', async () => {
  await using hours = await Hours.begin()
  const before = await hours.cliques()
  await hours.report('fire-0-web', false)
  await hours.pass(4 * hour - minute)
  await hours.report('fire-0-web', true)
  await hours.pass(minute)
  await hours.report('fire-0-web', false)
  await hours.pass(4 * hour - minute)
  assert.deepEqual(await hours.cliques(), before, 'the next breach has the whole delay again')
  await hours.killOperator()
  await hours.report('fire-0-web', true)
  await hours.pass(hour)
  await hours.startOperator()
  await hours.pass(4 * hour)
  assert.deepEqual(await hours.cliques(), before)
})

test('terminates only the group replica if the group has enough other replicas', async () => {
  await using hours = await Hours.begin()
  const spared = new Set(await hours.cliques())
  const broken = await hours.cliques('fire-0-eng-1')
  for (const uid of broken) spared.delete(uid)
  await hours.report('fire-0-eng-1-lead', false)
  await hours.pass(4 * hour - minute)
  assert.deepEqual(await hours.cliques('fire-0-eng-1'), broken)
  await hours.pass(2 * minute)
  assert.ok(isDisjoint(broken, await hours.cliques('fire-0-eng-1')))
  const now = await hours.cliques()
  for (const uid of spared) assert.ok(now.includes(uid))
  assert.equal(hours.count('PodCliqueSetReplicaDeleteSuccessful'), 0)
  await hours.untilReady()
})

test('with Wait, a set that lost all pods is kept, reports the loss once per object, and recovers when nodes return', async () => {
  await using hours = await Hours.begin('Wait')
  const before = await hours.cliques()
  await hours.setNodes('gone')
  await hours.pass(5 * hour)
  await hours.killOperator()
  await hours.startOperator()
  await hours.pass(5 * hour)
  assert.deepEqual(await hours.cliques(), before)
  const losses = hours.events.filter(({ reason }) => reason === 'AllScheduledReplicasLost')
  // Two web cliques and eight members of groups; two groups.
  assert.equal(losses.length, 12)
  assert.equal(new Set(losses.map(({ about }) => about)).size, 12, 'once for each object')
  await hours.setNodes('back')
  await hours.untilReady()
  assert.deepEqual(await hours.cliques(), before)
})

test('with Recreate, the loss of all pods is a breach that terminates each replica once', async () => {
  await using hours = await Hours.begin('Recreate')
  const before = await hours.cliques()
  await hours.setNodes('gone')
  await hours.pass(4 * hour - minute)
  assert.deepEqual(await hours.cliques(), before)
  await hours.pass(2 * minute)
  assert.ok(isDisjoint(before, await hours.cliques()))
  await hours.pass(5 * hour)
  assert.equal(
    hours.count('PodCliqueSetReplicaDeleteSuccessful'),
    2,
    'a replica that never became ready again is not terminated again',
  )
  await hours.setNodes('back')
  await hours.untilReady()
})
