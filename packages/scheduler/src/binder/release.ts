// SPDX-License-Identifier: Apache-2.0

// A gang that is bound in part either gets the rest or gives back what it holds. Pure.
import { type GangProgress, type Pod, type PodGang, wasScheduled } from '@grove/api'
import type { GangDecision } from '../types.ts'
import { withHistory } from './gang-status.ts'

export interface ReleasePlan {
  /** Pods to delete, because the rest of the gang does not fit. The operator recreates them. */
  readonly pods: readonly Pod[]
  /** When the gang is released if it is still bound in part, in milliseconds since 1970. */
  readonly deadline: number | undefined
}

const nothing: ReleasePlan = { pods: [], deadline: undefined }

/**
 * Only for a gang that never had its minimum: pods of a gang that was scheduled before belong to a running system, and
 * its operator decides about them. A pod that is Ready is never deleted.
 *
 * The plan does not depend on the record of an attempt: a binding of a scheduler that was killed can arrive after the
 * next leader has found no pod bound.
 */
export function planRelease(
  gang: PodGang,
  bound: readonly Pod[],
  progress: GangProgress,
  decision: GangDecision | undefined,
  bindTimeoutMs: number,
  now: number,
): ReleasePlan {
  const known = withHistory(gang, progress)
  if (progress.isBound || !progress.hasBoundPods || wasScheduled(known, progress)) return nothing
  const deadline = Math.min(...bound.map(pod => boundAt(pod) ?? now)) + bindTimeoutMs
  if (decision?.verdict === 'Scheduled' && now < deadline) return { pods: [], deadline }
  if (bound.some(isReady)) return nothing
  return { pods: bound, deadline: undefined }
}

/** When the pod was bound, in milliseconds since 1970. */
function boundAt({ status }: Pod): number | undefined {
  const condition = status?.conditions?.find(
    ({ type, status }) => type === 'PodScheduled' && status === 'True',
  )
  return Date.parse(condition?.lastTransitionTime ?? '') || undefined
}

function isReady(pod: Pod): boolean {
  return pod.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false
}
