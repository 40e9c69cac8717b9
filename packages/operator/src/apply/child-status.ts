// SPDX-License-Identifier: Apache-2.0

// Writes the statuses of cliques and scaling groups.
import type { ErrorCode, LastError } from '@grove/api'
import type { Clock, KubeObject, Resource, Stored } from '@grove/kube'
import type { Caches } from '../caches/caches.ts'
import { lastErrorsOf } from '../errors/coded-error.ts'
import { LimitExceeded } from '../layout/limits.ts'
import type { Memory } from '../memory/memory.ts'
import { timestamp } from '../state/conditions.ts'
import type { ChildStatusPlan } from '../state/status-plan.ts'
import type { EventSink, Intent } from './intent.ts'
import { mergePatch } from './owned-fields.ts'
import { writeStatus } from './status-write.ts'

interface ChildStatus {
  lastErrors?: LastError[]
}

/** The fields that the statuses of all kinds share. */
export interface StatusKind<T extends KubeObject> {
  readonly resource: Resource<T>
  readonly eventSource: string
  /** The code of a failure that has no code of its own. */
  readonly errorCode: ErrorCode
}

/** The status that a reconcile has planned. */
export interface ChildReport<S> {
  readonly plan: ChildStatusPlan<S>
  /** Reports whether another controller or the user waits for this status. Other statuses are debounced. */
  isUrgent(status: S): boolean
  /** The time until the plan may change without a change in the cluster; 0 if it never does. */
  readonly retryInMs: number
}

interface ChildStatusContext {
  readonly caches: Caches
  readonly clock: Clock
  readonly events: EventSink
  readonly memory: Pick<Memory, 'statusDebounce'>
}

/**
 * Writes a status that differs from the stored one, at once or debounced. Writes nothing if the plan has no report.
 * Returns how long to wait for the write or for the next step of the plan; 0 if there is nothing to wait for.
 */
export async function writeChildStatus<T extends KubeObject, S extends ChildStatus>(
  kind: StatusKind<T & { status?: S }>,
  stored: Stored<T & { status?: S }>,
  report: ChildReport<S> | undefined,
  failure: unknown,
  { caches, clock, events: sink, memory: { statusDebounce } }: ChildStatusContext,
  signal: AbortSignal,
): Promise<number> {
  const { uid } = stored.metadata
  if (!report) {
    statusDebounce.clear(uid)
    return 0
  }
  const before = stored.status?.lastErrors
  const lastErrors = failure ? lastErrorsOf(failure, kind.errorCode, timestamp(clock), before) : []
  const status = { ...report.plan.status, lastErrors }
  if (!mergePatch(stored.status, status)) {
    statusDebounce.clear(uid)
    return report.retryInMs
  }
  const waitMs = failure !== undefined || report.isUrgent(status) ? 0 : statusDebounce.delayMs(uid)
  if (waitMs > 0) return waitMs
  const isWritten = await writeStatus(caches, kind.resource, stored, status, { signal })
  statusDebounce.clear(uid)
  // If the object was deleted meanwhile, no status is lost.
  if (!isWritten) return report.retryInMs
  for (const event of report.plan.events) sink.emit(stored, kind.eventSource, event)
  if (failure instanceof LimitExceeded && failure.isNew(before))
    sink.emit(stored, kind.eventSource, failure.event)
  return report.retryInMs
}

/** Writes why an object cannot be reconciled at all, and keeps the rest of its status. */
export function failedStatus<T extends KubeObject, S extends ChildStatus>(
  kind: StatusKind<T & { status?: S }>,
  object: Stored<T & { status?: S }>,
  failure: unknown,
  now: string,
): Intent {
  const lastErrors = lastErrorsOf(failure, kind.errorCode, now, object.status?.lastErrors)
  return { kind: 'writeStatus', resource: kind.resource, object, status: { ...object.status, lastErrors } }
}
