// SPDX-License-Identifier: Apache-2.0

// Decides when a finished pod is replaced. Without a delay, a pod that fails immediately, for example because the
// kubelet rejects it, would be replaced as fast as it fails. The time between two pods of one index doubles with every
// failure in a row. The count of failures is an annotation that each replacement inherits, so it survives a restart of
// the operator. The delay starts at the creation of the pod, whose time the API server sets: a pod that ran for longer
// than its delay is replaced at once. docs/decisions/0010-clocks-and-back-off.md
import { annotation, type Pod } from '@grove/api'
import { indexOf, isActive, isFinished, isReady, isTerminating, templateHashOf } from '../state/pod-state.ts'
import { firstReplacementDelayMs, healthyAfterMs, longestReplacementDelayMs } from '../timings/timings.ts'

/**
 * From this many failures in a row on, the status reports the index until its replacement is ready. Single failures are
 * normal.
 */
const reportedFailures = 2
/** Other clients can write the failure reason of a pod, and it becomes part of a message. */
const longestReason = 80

/**
 * The number of failures in a row of this index before this pod. Users can edit annotations, so invalid values count as
 * zero.
 */
export function failuresBefore({ metadata }: Pod): number {
  const text = metadata.annotations?.[annotation.consecutiveFailures] ?? ''
  return /^\d{1,6}$/.test(text) ? Number(text) : 0
}

/** The number of failures in a row that the replacement of a finished pod inherits. */
export function failuresAfter(pod: Pod, now: number): number {
  return now - createdAt(pod) >= healthyAfterMs ? 1 : failuresBefore(pod) + 1
}

/** Returns when a finished pod is replaced, in milliseconds since the epoch. */
export function replacedAt(pod: Pod): number {
  return (
    createdAt(pod) + Math.min(longestReplacementDelayMs, firstReplacementDelayMs * 2 ** failuresBefore(pod))
  )
}

/**
 * Reports whether a finished pod keeps its index until its replacement is due. A pod of an earlier template does not,
 * because its replacement has another template and may not fail.
 */
export function isBackingOff(pod: Pod, isCurrent: (hash: string) => boolean, now: number): boolean {
  return (
    isFinished(pod) &&
    !isTerminating(pod) &&
    indexOf(pod) !== undefined &&
    isCurrent(templateHashOf(pod) ?? '') &&
    replacedAt(pod) > now
  )
}

/**
 * Returns when the next finished pod is replaced, in milliseconds since the epoch; undefined if none is in back-off.
 */
export function nextReplacement(
  pods: readonly Pod[],
  isCurrent: (hash: string) => boolean,
  now: number,
): number | undefined {
  let next: number | undefined
  for (const pod of pods)
    if (isBackingOff(pod, isCurrent, now)) next = Math.min(next ?? Number.POSITIVE_INFINITY, replacedAt(pod))
  return next
}

interface FailingPod {
  readonly index: number
  readonly failures: number
  readonly text: string
}

/** Describes the pods that fail repeatedly, as a sentence; undefined if there are none. */
export function describeFailures(
  pods: readonly Pod[],
  isCurrent: (hash: string) => boolean,
  now: number,
): string | undefined {
  const failing = pods.flatMap((pod): FailingPod[] => {
    const index = indexOf(pod)
    if (index === undefined) return []
    if (isBackingOff(pod, isCurrent, now)) {
      const next = `${new Date(replacedAt(pod)).toISOString().slice(0, 19)}Z`
      const reason = pod.status?.reason ?? (pod.status?.phase === 'Succeeded' ? 'Succeeded' : '')
      const why = reason && ` (${reason.slice(0, longestReason)})`
      return [{ index, failures: failuresBefore(pod) + 1, text: `${why}, next attempt at ${next}` }]
    }
    const failures = failuresBefore(pod)
    return isActive(pod) && !isReady(pod) && failures >= reportedFailures
      ? [{ index, failures, text: ', and its replacement is not ready yet' }]
      : []
  })
  const worst = failing.toSorted((a, b) => b.failures - a.failures || a.index - b.index)[0]
  if (!worst) return undefined
  const times = worst.failures === 1 ? 'failed' : `failed ${worst.failures} times in a row`
  const more = failing.length > 1 ? `. ${failing.length} pods of this PodClique fail` : ''
  return `The pod with index ${worst.index} ${times}${worst.text}${more}`
}

function createdAt({ metadata }: Pod): number {
  const created = Date.parse(metadata.creationTimestamp ?? '')
  return Number.isNaN(created) ? Number.NEGATIVE_INFINITY : created
}
