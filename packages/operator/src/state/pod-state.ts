// SPDX-License-Identifier: Apache-2.0

// Predicates over the status of a pod.
import { type ContainerStatus, label, type Pod, podSchedulingGate } from '@grove/api'

export function isTerminating(pod: Pod): boolean {
  return pod.metadata.deletionTimestamp !== undefined
}

/** Succeeded or failed for good: it will never serve again. */
export function isFinished(pod: Pod): boolean {
  return pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed'
}

/** Counts as one of the replicas. */
export function isActive(pod: Pod): boolean {
  return !isTerminating(pod) && !isFinished(pod)
}

export function isReady(pod: Pod): boolean {
  return conditionOf(pod, 'Ready')?.status === 'True'
}

export function isScheduled(pod: Pod): boolean {
  return conditionOf(pod, 'PodScheduled')?.status === 'True'
}

/** Reports whether a scheduling gate, of Grove or of another controller, holds back the pod. */
export function isScheduleGated(pod: Pod): boolean {
  const condition = conditionOf(pod, 'PodScheduled')
  return condition?.status === 'False' && condition.reason === 'SchedulingGated'
}

/** Longest message of a scheduler that statuses and events repeat. */
export const longestCause = 800

/** Why the scheduler cannot place the pod; undefined if it can, or has not tried yet. */
export function unschedulableMessage(pod: Pod): string | undefined {
  const condition = conditionOf(pod, 'PodScheduled')
  return condition?.status === 'False' && condition.reason === 'Unschedulable'
    ? (condition.message ?? '').slice(0, longestCause)
    : undefined
}

export function hasOurGate(pod: Pod): boolean {
  return (pod.spec?.schedulingGates ?? []).some(gate => gate.name === podSchedulingGate)
}

/** Some container ended with an error, last time or now for good. */
export function hasFailedContainer(pod: Pod): boolean {
  return [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])].some(
    status => failed(status.lastState) || failed(status.state),
  )
}

/** Reports whether a container runs but is not ready. */
export function isStartedNotReady(pod: Pod): boolean {
  return (pod.status?.containerStatuses ?? []).some(status => status.started === true && !status.ready)
}

/** Reports whether the pod is scheduled, and neither serving nor starting. */
export function isUseless(pod: Pod): boolean {
  return isScheduled(pod) && !isReady(pod) && (hasFailedContainer(pod) || isStartedNotReady(pod))
}

/** Since when it is not ready, milliseconds since the epoch; long ago when it does not say. */
export function notReadySince(pod: Pod): number {
  const since = Date.parse(conditionOf(pod, 'Ready')?.lastTransitionTime ?? '')
  return Number.isNaN(since) ? Number.NEGATIVE_INFINITY : since
}

/** The pod's index in its clique, from its hostname, which never changes; undefined for a pod of another owner. */
export function indexOf(pod: Pod): number | undefined {
  const text = /-(\d{1,9})$/.exec(pod.spec?.hostname ?? '')?.[1]
  return text === undefined ? undefined : Number(text)
}

export function templateHashOf(pod: Pod): string | undefined {
  return pod.metadata.labels?.[label.podTemplateHash]
}

function failed(state: ContainerStatus['state']): boolean {
  return state?.terminated !== undefined && state.terminated.exitCode !== 0
}

function conditionOf(pod: Pod, type: string) {
  return pod.status?.conditions?.find(condition => condition.type === type)
}
