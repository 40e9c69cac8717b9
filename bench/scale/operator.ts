// SPDX-License-Identifier: Apache-2.0

// The lifecycle of one set under the operator, which runs as a process. The API server calls its webhooks.
import type { PodCliqueSet } from '@grove/api'
import { type Client, defineResource, type KubeObject } from '@grove/kube'
import { resources } from '@grove/operator'
import { type Kubernetes, waitFor } from '@grove/test-kubernetes'
import type { OperatorProcess } from '@grove/test-scenarios'
import { Observer } from './observer.ts'
import {
  countBusyProcessors,
  countProcessorTime,
  type ProcessorTime,
  sumOf,
  untilIdle,
} from './processor-time.ts'
import { countAllocated } from './server-work.ts'
import { pause, stopwatch } from './stopwatch.ts'
import type { Workload } from './workloads.ts'

const timeoutMs = 600_000
/** Delayed events and statuses are complete when nothing is written for this time. */
const idleMs = 3_000

const events = defineResource<KubeObject>({
  group: '',
  version: 'v1',
  resource: 'events',
  kind: 'Event',
  namespaced: true,
})

export interface Lifecycle {
  readonly created: number
  readonly ready: number
  readonly available: number
  /** Seconds until the last event is written. */
  readonly lastEvent: number
  readonly gone: number
  readonly cpuSeconds: number
  /** CPU time of the control plane and of the operator until all pods were ready. */
  readonly processorTime: ProcessorTime
  /** Megabytes that the API server allocated until then. */
  readonly allocatedMB: number
  /** Processors that other processes used meanwhile. */
  readonly others: number
  readonly residentMiB: number
  readonly peakMiB: number
  readonly writes: Readonly<Record<string, number>>
  /** The part of these until all pods were ready. */
  readonly writesUntilReady: Readonly<Record<string, number>>
  readonly steady: { seconds: number; writes: number; events: number; cpuSeconds: number } | undefined
  readonly toZero: number | undefined
  readonly backAgain: number | undefined
}

export interface LifecycleOptions {
  /** Seconds for which a converged set is observed after a trigger without a change; 0 skips this. */
  readonly steadySeconds: number
  /** True to scale to zero and back. */
  readonly zero: boolean
}

export async function lifecycleOf(
  cluster: Kubernetes,
  client: Client,
  operator: OperatorProcess,
  workload: Workload,
  options: LifecycleOptions,
): Promise<Lifecycle> {
  await untilIdle(cluster, client)
  const namespace = await cluster.newNamespace('scale')
  const set = workload.set(namespace)
  const ref = { name: set.metadata.name, namespace }
  const observer = await new Observer(client, namespace).start()
  const untilAvailable = () =>
    waitFor(
      'the set to be available',
      async () => isAvailable(await client.get(resources.podCliqueSets, ref), workload.replicas),
      { timeoutMs, intervalMs: 20 },
    )
  const before = { writes: await operator.writes(), cpu: operator.cpuSeconds() }
  const allocated = await countAllocated(client)
  const used = countProcessorTime(cluster)
  const busy = countBusyProcessors()
  const seconds = stopwatch()
  await client.create(resources.podCliqueSets, set)
  await observer.untilPods(workload.pods)
  const created = seconds()
  await observer.untilReady(workload.pods)
  const ready = seconds()
  const processorTime = { ...used(), operator: operator.cpuSeconds() - before.cpu }
  const others = busy() - sumOf(processorTime) / ready
  const [allocatedMB, writtenByThen] = await Promise.all([allocated(), operator.writes(), untilAvailable()])
  const available = seconds()
  await untilNoWrites(operator)
  const lastEvent = seconds() - idleMs / 1000
  const cpuSeconds = operator.cpuSeconds() - before.cpu
  const { now: residentMiB, peak: peakMiB } = operator.residentMiB()
  const writes = difference(await operator.writes(), before.writes)
  const steady =
    options.steadySeconds > 0 ? await afterTrigger(client, operator, ref, options.steadySeconds) : undefined
  const scaled = options.zero ? await zeroAndBack(client, observer, ref, workload) : undefined
  const sinceDeletion = stopwatch()
  await client.delete(resources.podCliqueSets, ref)
  await observer.untilGone()
  const gone = sinceDeletion()
  observer.stop()
  return {
    created,
    ready,
    available,
    lastEvent,
    gone,
    cpuSeconds,
    processorTime,
    allocatedMB,
    others,
    residentMiB,
    peakMiB,
    writes,
    writesUntilReady: difference(writtenByThen, before.writes),
    steady,
    toZero: scaled?.toZero,
    backAgain: scaled?.backAgain,
  }
}

/** Seconds from the creation of the set until all its pods exist, are without gates, and are ready. */
export interface Round {
  readonly created: number
  readonly free: number
  readonly ready: number
}

/** Repeats the lifecycle of a small set several times. */
export async function smallRounds(
  cluster: Kubernetes,
  client: Client,
  workload: Workload,
  rounds: number,
): Promise<Round[]> {
  await untilIdle(cluster, client)
  const namespace = await cluster.newNamespace('tiny')
  const observer = await new Observer(client, namespace).start()
  const set = workload.set(namespace)
  const ref = { name: set.metadata.name, namespace }
  const times: Round[] = []
  for (let round = 0; round < rounds; round++) {
    const seconds = stopwatch()
    await client.create(resources.podCliqueSets, set)
    await observer.untilPods(workload.pods)
    const created = seconds()
    await observer.untilFree(workload.pods)
    const free = seconds()
    await observer.untilReady(workload.pods)
    times.push({ created, free, ready: seconds() })
    await client.delete(resources.podCliqueSets, ref)
    await observer.untilGone()
    while (await client.find(resources.podCliqueSets, ref)) await pause(20)
  }
  observer.stop()
  return times
}

async function untilNoWrites(operator: OperatorProcess): Promise<void> {
  const count = async () => [...(await operator.writes()).values()].reduce((sum, writes) => sum + writes, 0)
  for (let before = -1, now = await count(); now !== before; now = await count()) {
    before = now
    await pause(idleMs)
  }
}

async function afterTrigger(
  client: Client,
  operator: OperatorProcess,
  ref: { name: string; namespace: string },
  seconds: number,
) {
  const writesBefore = await operator.writes()
  const eventsBefore = (await client.list(events, { namespace: ref.namespace })).items.length
  const cpuBefore = operator.cpuSeconds()
  await client.patch(resources.podCliqueSets, ref, {
    merge: { metadata: { annotations: { 'grove.io/reconcile-trigger': 'bench' } } },
  })
  await pause(seconds * 1000)
  const cpuSeconds = operator.cpuSeconds() - cpuBefore
  const written = Object.values(difference(await operator.writes(), writesBefore))
  return {
    seconds,
    writes: written.reduce((sum, count) => sum + count, 0),
    events: (await client.list(events, { namespace: ref.namespace })).items.length - eventsBefore,
    cpuSeconds,
  }
}

async function zeroAndBack(
  client: Client,
  observer: Observer,
  ref: { name: string; namespace: string },
  workload: Workload,
) {
  const scaleTo = (replicas: number) =>
    client.patch(resources.podCliqueSets, ref, { merge: { spec: { replicas } } })
  const down = stopwatch()
  await scaleTo(0)
  await observer.untilPods(0)
  const toZero = down()
  const up = stopwatch()
  await scaleTo(workload.replicas)
  await observer.untilReady(workload.pods)
  return { toZero, backAgain: up() }
}

function isAvailable(set: PodCliqueSet, replicas: number): boolean {
  return (set.status?.availableReplicas ?? 0) >= replicas
}

function difference(now: ReadonlyMap<string, number>, before: ReadonlyMap<string, number>) {
  return Object.fromEntries(
    [...now]
      .map(([what, count]) => [what, count - (before.get(what) ?? 0)] as const)
      .filter(([, n]) => n > 0),
  )
}
