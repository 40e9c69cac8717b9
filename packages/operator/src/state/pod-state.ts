// SPDX-License-Identifier: Apache-2.0

// Predicates over the status of a pod.
import { type ContainerStatus, label, type Pod, podSchedulingGate } from '@grove/api'

export function isTerminating(pod: Pod): boolean {
  return pod.metadata.deletionTimestamp !== undefined
}

/** Reports whether the pod has succeeded or failed and will never be ready again. */
export function isFinished(pod: Pod): boolean {
  return pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed'
}

/** Reports whether the pod counts as one of the replicas. */
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

/** The most characters of a scheduler message that statuses and events repeat. */
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

/** Reports whether a container terminated with an error, in its last run or without a restart. */
export function hasFailedContainer(pod: Pod): boolean {
  return [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])].some(
    status => failed(status.lastState) || failed(status.state),
  )
}

/** Reports whether a container runs but is not ready. */
export function isStartedNotReady(pod: Pod): boolean {
  return (pod.status?.containerStatuses ?? []).some(status => status.started === true && !status.ready)
}

/** Reports whether the pod is scheduled, and neither ready nor starting. */
export function isUseless(pod: Pod): boolean {
  return isScheduled(pod) && !isReady(pod) && (hasFailedContainer(pod) || isStartedNotReady(pod))
}

/** Since when the pod is not ready, in milliseconds since the epoch; long ago if unknown. */
export function notReadySince(pod: Pod): number {
  const since = Date.parse(conditionOf(pod, 'Ready')?.lastTransitionTime ?? '')
  return Number.isNaN(since) ? Number.NEGATIVE_INFINITY : since
}

/** The pod's index in its clique, from its immutable hostname; undefined for a pod of another owner. */
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
