// SPDX-License-Identifier: Apache-2.0

// Writes the statuses of cliques and scaling groups.
import type { ErrorCode, LastError } from '@grove/api'
import type { Clock, KubeObject, Resource, Stored } from '@grove/kube'
import type { Caches } from '../caches/caches.ts'
import { lastErrorsOf } from '../errors/coded-error.ts'
import type { ChildStatusPlan } from '../state/child-status.ts'
import { timestamp } from '../state/conditions.ts'
import type { EventSink } from './intent.ts'
import { mergePatch } from './owned-fields.ts'
import type { StatusDebounce } from './status-debounce.ts'
import { writeStatus } from './status-write.ts'

interface ChildStatus {
  lastErrors?: LastError[]
}

/** The fields that the statuses of all kinds share. */
export interface StatusKind<T extends KubeObject> {
  readonly resource: Resource<T>
  readonly eventSource: string
  /** Code of a failure that has none. */
  readonly errorCode: ErrorCode
}

export interface ChildStatusWrite<T extends KubeObject, S extends ChildStatus> {
  readonly stored: Stored<T & { status?: S }>
  readonly plan: ChildStatusPlan<S>
  readonly failure: unknown
  /** Reports whether another controller or the user waits for this status. The others are debounced. */
  isUrgent(status: S): boolean
}

interface ChildStatusContext {
  readonly caches: Caches
  readonly clock: Clock
  readonly events: EventSink
  readonly statusDebounce: StatusDebounce
}

/** Writes a status that differs from the stored one. Returns how long it has to wait; 0 when nothing is left to write. */
export async function writeChildStatus<T extends KubeObject, S extends ChildStatus>(
  kind: StatusKind<T & { status?: S }>,
  { stored, plan, failure, isUrgent }: ChildStatusWrite<T, S>,
  { caches, clock, events: sink, statusDebounce }: ChildStatusContext,
  signal: AbortSignal,
): Promise<number> {
  const { uid } = stored.metadata
  const lastErrors = failure
    ? lastErrorsOf(failure, kind.errorCode, timestamp(clock), stored.status?.lastErrors)
    : []
  const status = { ...plan.status, lastErrors }
  if (!mergePatch(stored.status, status)) {
    statusDebounce.clear(uid)
    return 0
  }
  const waitMs = failure !== undefined || isUrgent(status) ? 0 : statusDebounce.delayMs(uid)
  if (waitMs > 0) return waitMs
  const isWritten = await writeStatus(caches, kind.resource, stored, status, { signal })
  statusDebounce.clear(uid)
  // An object that was deleted meanwhile has lost nothing.
  if (isWritten) for (const event of plan.events) sink.emit(stored, kind.eventSource, event)
  return 0
}
