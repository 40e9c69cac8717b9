// SPDX-License-Identifier: Apache-2.0

// Where the time of the processors goes: the control plane shares them with whoever writes, so that a request too many
// costs everybody. Steadier than times on a machine that is busy with other work.
import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { type Client, defineResource, type KubeObject } from '@grove/kube'
import type { Kubernetes } from '@grove/test-kubernetes'
import { pause } from './stopwatch.ts'

/** Of the kernel's clock in /proc: the same on every Linux. */
const ticksPerSecond = 100

/** A control plane that uses less than this share of one processor has nothing left to do. */
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

/** Starts counting; the result tells what was used since, by the control plane and by this process. */
export function countProcessorTime(cluster: Kubernetes): () => ProcessorTime {
  const before = read(cluster)
  return () =>
    Object.fromEntries(Object.entries(read(cluster)).map(([who, used]) => [who, used - (before[who] ?? 0)]))
}

/**
 * What is left to clean up after many objects would be paid for by who comes next. The controller manager allows itself a
 * few requests per second for the endpoints of services that are gone, so that it looks idle long before it is done.
 */
export async function untilIdle(cluster: Kubernetes, client: Client): Promise<void> {
  for (let waitedMs = 0; waitedMs < longestWaitMs; waitedMs += idleForMs) {
    const used = countProcessorTime(cluster)
    await pause(idleForMs)
    const left = await Promise.all(endpointKinds.map(async kind => (await client.list(kind)).items))
    if (left.flat().every(isOfControlPlane) && sumOf(used()) < (idleShare * idleForMs) / 1000) return
  }
}

function isOfControlPlane({ metadata }: KubeObject): boolean {
  return metadata?.namespace === 'default'
}

/** Starts counting; the result tells how many processors were busy since, on average, with whatever it was. */
export function countBusyProcessors(): () => number {
  const before = machine()
  return () => {
    const after = machine()
    return ((after.busy - before.busy) / (after.all - before.all)) * availableParallelism()
  }
}

/** Time that the hypervisor gave to others counts as busy: it is not ours to use. */
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
  return Object.fromEntries(pids.map(([who, pid]) => [who, pid === undefined ? 0 : secondsOf(pid)]))
}

function secondsOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond
}
