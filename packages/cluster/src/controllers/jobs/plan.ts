// SPDX-License-Identifier: Apache-2.0

// Computes the next step of a Job. Pure.

import type { Stored } from '@grove/kube'
import type { Job, Pod } from '../kinds.ts'
import { isActive } from '../pod-state.ts'

export const indexAnnotation = 'batch.kubernetes.io/job-completion-index'
const defaultBackoffLimit = 6
/** The backoff after the first failure, and its maximum. */
const firstBackoffMs = 10_000
const longestBackoffMs = 600_000

export type JobStep =
  /** The indexes of the pods to create; undefined for a pod without index. */
  | {
      readonly do: 'run'
      readonly create: readonly (number | undefined)[]
      readonly remove: readonly Stored<Pod>[]
      readonly notBefore: number
    }
  | { readonly do: 'complete' }
  | { readonly do: 'fail'; readonly reason: string; readonly message: string }

export function planJob(job: Stored<Job>, pods: readonly Stored<Pod>[], now: number): JobStep {
  const { spec } = job
  const active = pods.filter(isActive)
  const failed = pods.filter(({ status }) => status?.phase === 'Failed')
  if (spec?.suspend) return { do: 'run', create: [], remove: active, notBefore: 0 }
  if (failed.length > (spec?.backoffLimit ?? defaultBackoffLimit))
    return {
      do: 'fail',
      reason: 'BackoffLimitExceeded',
      message: 'Job has reached the specified backoff limit',
    }
  const deadline = deadlineOf(job)
  if (deadline !== undefined && now >= deadline)
    return {
      do: 'fail',
      reason: 'DeadlineExceeded',
      message: 'Job was active longer than specified deadline',
    }
  const wanted = wantedPods(job, pods, active)
  if (wanted === 'complete') return { do: 'complete' }
  return { do: 'run', ...wanted, notBefore: wanted.create.length ? backoffEnd(failed) : 0 }
}

export function deadlineOf({ spec, status }: Job): number | undefined {
  if (spec?.activeDeadlineSeconds === undefined || !status?.startTime) return undefined
  return Date.parse(status.startTime) + spec.activeDeadlineSeconds * 1_000
}

function wantedPods({ spec }: Job, pods: readonly Stored<Pod>[], active: readonly Stored<Pod>[]) {
  const parallelism = spec?.parallelism ?? 1
  const succeeded = pods.filter(({ status }) => status?.phase === 'Succeeded')
  if (spec?.completionMode === 'Indexed') {
    const done = new Set(succeeded.map(indexOf))
    const running = new Set(active.map(indexOf))
    const completions = spec.completions ?? 1
    if (done.size >= completions) return 'complete'
    const create: number[] = []
    for (let index = 0; index < completions && running.size + create.length < parallelism; index++)
      if (!done.has(index) && !running.has(index)) create.push(index)
    return { create, remove: active.slice(parallelism) }
  }
  // Without completions the Job is complete when the first pod has succeeded and no pod is running.
  const completions = spec?.completions
  if (completions === undefined) {
    if (succeeded.length > 0) return active.length === 0 ? 'complete' : { create: [], remove: [] }
    return missing(parallelism, active)
  }
  if (succeeded.length >= completions) return 'complete'
  return missing(Math.min(parallelism, completions - succeeded.length), active)
}

function missing(wanted: number, active: readonly Stored<Pod>[]) {
  const create = Array.from({ length: Math.max(0, wanted - active.length) }, () => undefined)
  return { create, remove: active.slice(wanted) }
}

export function indexOf({ metadata }: Stored<Pod>): number {
  return Number(metadata.annotations?.[indexAnnotation] ?? -1)
}

function backoffEnd(failed: readonly Stored<Pod>[]): number {
  if (failed.length === 0) return 0
  const ended = failed.flatMap(({ status }) =>
    (status?.containerStatuses ?? []).map(
      ({ state }) => Date.parse(state?.terminated?.finishedAt ?? '') || 0,
    ),
  )
  return Math.max(0, ...ended) + Math.min(longestBackoffMs, firstBackoffMs * 2 ** (failed.length - 1))
}
