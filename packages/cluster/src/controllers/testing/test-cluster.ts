// SPDX-License-Identifier: Apache-2.0

import { type Client, createClientOn, FakeClock, type Transport } from '@grove/kube'
import { createCluster } from '../../cluster.ts'
import { inProcessTransport } from '../../front/in-process.ts'
import { type NodePlan, plainNodes } from '../../nodes/topology.ts'
import { seededRandom } from '../../random.ts'
import { type Pod, pods } from '../kinds.ts'
import { type ControllersOptions, type RunningControllers, startControllers } from '../start-controllers.ts'

export interface TestCluster extends AsyncDisposable {
  readonly clock: FakeClock
  readonly client: Client
  readonly controllers: RunningControllers
  /** Restarts the controllers, like a restart of their process. */
  restart(): Promise<void>
}

export interface TestClusterOptions extends Omit<ControllersOptions, 'clock' | 'random'> {
  readonly nodes?: number | readonly NodePlan[]
  readonly seed?: number
  /** Wraps the transport of the controllers. The test's own client is not affected. */
  readonly between?: (transport: Transport) => Transport
}

/** A cluster in this process with a fake clock. */
export async function startTestCluster(options: TestClusterOptions = {}): Promise<TestCluster> {
  const clock = new FakeClock()
  const seed = options.seed ?? 1
  const cluster = createCluster({ clock, seed })
  const random = seededRandom(seed)
  const next = () => random.integer(2 ** 30) / 2 ** 30
  const client = createClientOn(inProcessTransport(cluster.handle), { clock, random: next })
  const direct = inProcessTransport(cluster.handle)
  const theirs = createClientOn(options.between?.(direct) ?? direct, { clock, random: next })
  const begin = async () => completed(clock, startControllers(theirs, { ...options, clock, random: next }))
  let controllers = await begin()
  const wanted = options.nodes ?? 0
  await completed(clock, controllers.fleet.add(typeof wanted === 'number' ? plainNodes(wanted) : wanted))
  await clock.advance(0)
  return {
    clock,
    client,
    get controllers() {
      return controllers
    },
    async restart() {
      await completed(clock, controllers.stop())
      controllers = await begin()
    },
    async [Symbol.asyncDispose]() {
      await completed(clock, controllers.stop())
      cluster.stop()
    },
  }
}

/** Waits for work that needs no time to pass on the fake clock. */
export async function completed<T>(clock: FakeClock, work: Promise<T>): Promise<T> {
  let done = false
  const watched = work.finally(() => {
    done = true
  })
  watched.catch(() => {})
  for (let turn = 0; !done && turn < 1_000; turn++) await clock.advance(0)
  if (!done) throw new Error('the work does not complete without advancing the clock')
  return watched
}

export interface PodShape {
  readonly namespace?: string
  readonly labels?: Record<string, string>
  readonly annotations?: Record<string, string>
  readonly requests?: Record<string, string>
  readonly spec?: NonNullable<Pod['spec']>
}

/** A pod with one container called `main`. */
export function podOf(name: string, shape: PodShape = {}): Pod {
  const { namespace = 'default', labels, annotations, requests } = shape
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, labels, annotations },
    spec: {
      containers: [
        { name: 'main', image: 'registry.example/app:1', ...(requests && { resources: { requests } }) },
      ],
      ...shape.spec,
    },
  }
}

export async function createPod(cluster: TestCluster, pod: Pod): Promise<void> {
  await completed(cluster.clock, cluster.client.create(pods, pod))
}

export function getPod(cluster: TestCluster, name: string, namespace = 'default') {
  return completed(cluster.clock, cluster.client.find(pods, { name, namespace }))
}
