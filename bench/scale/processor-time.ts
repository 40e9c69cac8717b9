// SPDX-License-Identifier: Apache-2.0

// Where the time of the processors goes: the control plane shares them with whoever writes, so that a request too many
// costs everybody. Steadier than times on a machine that is busy with other work.
import { readFileSync } from 'node:fs'
import type { Kubernetes } from '@grove/test-kubernetes'

/** Of the kernel's clock in /proc: the same on every Linux. */
const ticksPerSecond = 100

/** Seconds by process. */
export type ProcessorTime = Readonly<Record<string, number>>

/** Starts counting; the result tells what was used since, by the control plane and by this process. */
export function countProcessorTime(cluster: Kubernetes): () => ProcessorTime {
  const before = read(cluster)
  return () =>
    Object.fromEntries(Object.entries(read(cluster)).map(([who, used]) => [who, used - (before[who] ?? 0)]))
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
