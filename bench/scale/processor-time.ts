// SPDX-License-Identifier: Apache-2.0

// CPU time by process. The control plane shares the processors with the operator, so that every unnecessary request
// costs both. CPU time is more stable than wall-clock time on a busy machine.
import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { type Client, defineResource, type KubeObject } from '@grove/kube'
import type { Kubernetes } from '@grove/test-kubernetes'
import { pause } from './stopwatch.ts'

/** The unit of CPU times in /proc, the same on every Linux. */
const ticksPerSecond = 100

/** A control plane that uses less than this share of one processor is idle. */
const idleShare = 0.3
const idleForMs = 2_000
const longestWaitMs = 120_000

const endpointKinds = [
  defineResource<KubeObject>({
    group: '',
    version: 'v1',
    resource: 'endpoints',
    kind: 'Endpoints',
    namespaced: true,
  }),
  defineResource<KubeObject>({
    group: 'discovery.k8s.io',
    version: 'v1',
    resource: 'endpointslices',
    kind: 'EndpointSlice',
    namespaced: true,
  }),
]

/** Seconds by process. */
export type ProcessorTime = Readonly<Record<string, number>>

export function sumOf(time: ProcessorTime): number {
  return Object.values(time).reduce((sum, seconds) => sum + seconds, 0)
}

/** Starts counting. The result returns the CPU time since then, of the control plane and of this process. */
export function countProcessorTime(cluster: Kubernetes): () => ProcessorTime {
  const before = read(cluster)
  return () =>
    Object.fromEntries(Object.entries(read(cluster)).map(([who, used]) => [who, used - (before[who] ?? 0)]))
}

/**
 * Waits until the control plane has cleaned up after many objects, so that the next measurement does not include it.
 * The controller manager sends only a few requests per second for endpoints of deleted Services, so it looks idle long
 * before it is done.
 */
export async function untilIdle(
  cluster: Kubernetes,
  client: Client,
  waitAtMostMs = longestWaitMs,
): Promise<void> {
  for (let waitedMs = 0; waitedMs < waitAtMostMs; waitedMs += idleForMs) {
    const used = countProcessorTime(cluster)
    await pause(idleForMs)
    const left = await Promise.all(endpointKinds.map(async kind => (await client.list(kind)).items))
    if (left.flat().every(isOfControlPlane) && sumOf(used()) < (idleShare * idleForMs) / 1000) return
  }
}

function isOfControlPlane({ metadata }: KubeObject): boolean {
  return metadata?.namespace === 'default'
}

/** Starts counting. The result returns the average number of busy processors since then. */
export function countBusyProcessors(): () => number {
  const before = machine()
  return () => {
    const after = machine()
    return ((after.busy - before.busy) / (after.all - before.all)) * availableParallelism()
  }
}

/** Time that the hypervisor gave to other machines counts as busy, because it was not available. */
function machine(): { busy: number; all: number } {
  const [user = 0, nice = 0, system = 0, idle = 0, wait = 0, irq = 0, softIrq = 0, stolen = 0] = readFileSync(
    '/proc/stat',
    'utf8',
  )
    .split('\n')[0]!
    .split(/\s+/)
    .slice(1)
    .map(Number)
  const busy = user + nice + system + irq + softIrq + stolen
  return { busy, all: busy + idle + wait }
}

function read(cluster: Kubernetes): Record<string, number> {
  const pids: [string, number | undefined][] = [
    ...cluster.components.map(name => [name, cluster.pid(name)] as [string, number | undefined]),
    ['benchmark', process.pid],
  ]
  return Object.fromEntries(pids.map(([who, pid]) => [who, pid === undefined ? 0 : cpuSecondsOf(pid)]))
}

/** CPU time of a process. */
export function cpuSecondsOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond
}
