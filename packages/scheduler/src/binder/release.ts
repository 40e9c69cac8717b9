// SPDX-License-Identifier: Apache-2.0

// A gang that is bound in part either gets the rest or gives back what it holds. Pure.
import type { Pod, PodGang } from '@grove/api'
import type { GangDecision } from '../types.ts'
import { type GangProgress, isStarting, startedAt, wasScheduled } from './gang-status.ts'

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
 */
export function planRelease(
  gang: PodGang,
  bound: readonly Pod[],
  progress: GangProgress,
  decision: GangDecision | undefined,
  bindTimeoutMs: number,
  now: number,
): ReleasePlan {
  if (!isStarting(gang) || progress.isBound || !progress.hasBoundPods || wasScheduled(gang, progress))
    return nothing
  const deadline = (startedAt(gang) ?? now) + bindTimeoutMs
  if (decision?.verdict === 'Scheduled' && now < deadline) return { pods: [], deadline }
  if (bound.some(isReady)) return nothing
  return { pods: bound, deadline: undefined }
}

function isReady(pod: Pod): boolean {
  return pod.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false
}
