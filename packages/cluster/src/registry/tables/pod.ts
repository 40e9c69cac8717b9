// SPDX-License-Identifier: Apache-2.0

import { formatElapsed } from '@grove/apimachinery'
import type { ContainerStatus, Pod } from '../../schema/types.generated.ts'
import type { Column } from '../resource.ts'
import { ageColumn, column, nameColumn, noneIfEmpty, wide } from './column.ts'

interface PodSummary {
  readonly ready: number
  readonly total: number
  readonly restarts: number
  readonly lastRestart: string | null
  readonly reason: string
}

export const podColumns: readonly Column<Pod>[] = [
  nameColumn,
  column(
    'Ready',
    object => {
      const { ready, total } = summarize(object)
      return `${ready}/${total}`
    },
    'The aggregate readiness state of this pod for accepting traffic.',
  ),
  column('Status', object => summarize(object).reason, 'The aggregate status of the containers in this pod.'),
  column(
    'Restarts',
    (object, now) => {
      const { restarts, lastRestart } = summarize(object)
      return restarts > 0 && lastRestart
        ? `${restarts} (${formatElapsed(now - Date.parse(lastRestart))} ago)`
        : String(restarts)
    },
    'The number of times the containers in this pod have been restarted and when the last container in this pod has restarted.',
  ),
  ageColumn,
  wide(column('IP', object => noneIfEmpty(object.status?.podIPs?.[0]?.ip))),
  wide(column('Node', object => noneIfEmpty(object.spec?.nodeName))),
  wide(column('Nominated Node', object => noneIfEmpty(object.status?.nominatedNodeName))),
  wide(column('Readiness Gates', readinessGates)),
]

function readinessGates({ spec, status }: Pod): string {
  const gates = spec?.readinessGates ?? []
  if (gates.length === 0) return '<none>'
  const met = gates.filter(gate =>
    status?.conditions?.some(({ type, status }) => type === gate.conditionType && status === 'True'),
  )
  return `${met.length}/${gates.length}`
}

function later(a: string | null, b: string | null | undefined): string | null {
  return b && (!a || b > a) ? b : a
}

/** Returns the columns of `kubectl get pods`, with the same precedence of reasons. */
function summarize(object: Pod): PodSummary {
  const { metadata, spec, status } = object
  let restarts = 0
  let lastRestart: string | null = null
  let ready = 0
  let reason = status?.reason || status?.phase || ''
  for (const condition of status?.conditions ?? [])
    if (condition.type === 'PodScheduled' && condition.reason === 'SchedulingGated')
      reason = 'SchedulingGated'

  const sidecars = new Set(
    (spec?.initContainers ?? [])
      .filter(({ restartPolicy }) => restartPolicy === 'Always')
      .map(({ name }) => name),
  )
  let initializing = false
  for (const [index, container] of (status?.initContainerStatuses ?? []).entries()) {
    restarts += container.restartCount ?? 0
    lastRestart = later(lastRestart, container.lastState?.terminated?.finishedAt)
    if (sidecars.has(container.name) && container.started && container.ready) ready++
    const outcome = initReason(
      container,
      sidecars.has(container.name),
      index,
      spec?.initContainers?.length ?? 0,
    )
    if (outcome !== undefined) {
      reason = outcome
      initializing = true
      break
    }
  }
  if (!initializing || hasCondition(object, 'Initialized')) {
    restarts = sidecarRestarts(object, sidecars)
    let running = false
    for (const container of [...(status?.containerStatuses ?? [])].reverse()) {
      restarts += container.restartCount ?? 0
      lastRestart = later(lastRestart, container.lastState?.terminated?.finishedAt)
      const { waiting, terminated } = container.state ?? {}
      if (waiting?.reason) reason = waiting.reason
      else if (terminated)
        reason =
          terminated.reason ||
          (terminated.signal ? `Signal:${terminated.signal}` : `ExitCode:${terminated.exitCode}`)
      else if (container.ready && container.state?.running) {
        running = true
        ready++
      }
    }
    if (reason === 'Completed' && running) reason = hasCondition(object, 'Ready') ? 'Running' : 'NotReady'
  }
  if (metadata?.deletionTimestamp) {
    if (status?.reason === 'NodeLost') reason = 'Unknown'
    else if (status?.phase !== 'Failed' && status?.phase !== 'Succeeded') reason = 'Terminating'
  }
  const total = (spec?.containers?.length ?? 0) + sidecars.size
  return { ready, total, restarts, lastRestart, reason }
}

/** Returns the status reason of an init container; undefined if it completed or runs as a sidecar. */
function initReason(
  container: ContainerStatus,
  sidecar: boolean,
  index: number,
  total: number,
): string | undefined {
  const { waiting, terminated } = container.state ?? {}
  if (terminated && terminated.exitCode === 0) return undefined
  if (sidecar && container.started) return undefined
  if (terminated) {
    if (terminated.reason) return `Init:${terminated.reason}`
    return terminated.signal ? `Init:Signal:${terminated.signal}` : `Init:ExitCode:${terminated.exitCode}`
  }
  if (waiting?.reason && waiting.reason !== 'PodInitializing') return `Init:${waiting.reason}`
  return `Init:${index}/${total}`
}

function sidecarRestarts(object: Pod, sidecars: ReadonlySet<string | undefined>): number {
  const { status } = object
  return (status?.initContainerStatuses ?? [])
    .filter(({ name }) => sidecars.has(name))
    .reduce((sum, { restartCount = 0 }) => sum + restartCount, 0)
}

function hasCondition(object: Pod, wanted: string): boolean {
  return (object.status?.conditions ?? []).some(({ type, status }) => type === wanted && status === 'True')
}
