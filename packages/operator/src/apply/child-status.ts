// SPDX-License-Identifier: Apache-2.0

// Writes the statuses of cliques and scaling groups.
import type { ErrorCode, EventValue, LastError } from '@grove/api'
import type { Clock, KubeObject, Resource, Stored } from '@grove/kube'
import type { Caches } from '../caches/caches.ts'
import { lastErrorsOf } from '../errors/coded-error.ts'
import { timestamp } from '../state/conditions.ts'
import type { EventSink } from './event-sink.ts'
import { mergePatch } from './owned-fields.ts'
import type { StatusPace } from './status-pace.ts'
import { writeStatus } from './status-write.ts'

interface ChildStatus {
  lastErrors?: LastError[]
}

export interface ChildStatusWrite<T extends KubeObject, S extends ChildStatus> {
  readonly resource: Resource<T & { status?: S }>
  readonly stored: Stored<T & { status?: S }>
  readonly status: S
  /** Emitted when the status is written. */
  readonly events: readonly EventValue[]
  readonly eventSource: string
  readonly failure: unknown
  /** Code of a failure that has none. */
  readonly errorCode: ErrorCode
  /** Reports whether another controller or the user waits for this status. The others are paced. */
  isUrgent(status: S): boolean
}

interface ChildStatusContext {
  readonly caches: Caches
  readonly clock: Clock
  readonly events: EventSink
  readonly statusPace: StatusPace
}

/** Writes a status that differs from the stored one. Returns how long it has to wait; 0 when nothing is left to write. */
export async function writeChildStatus<T extends KubeObject, S extends ChildStatus>(
  write: ChildStatusWrite<T, S>,
  { caches, clock, events: sink, statusPace }: ChildStatusContext,
  signal: AbortSignal,
): Promise<number> {
  const { resource, stored, failure } = write
  const { uid } = stored.metadata
  const lastErrors = failure
    ? lastErrorsOf(failure, write.errorCode, timestamp(clock), stored.status?.lastErrors)
    : []
  const status = { ...write.status, lastErrors }
  if (!mergePatch(stored.status, status)) {
    statusPace.drop(uid)
    return 0
  }
  const waitMs = failure !== undefined || write.isUrgent(status) ? 0 : statusPace.waitMs(uid)
  if (waitMs > 0) return waitMs
  const isWritten = await writeStatus(caches, resource, stored, status, { signal })
  statusPace.wrote(uid)
  // An object that was deleted meanwhile has lost nothing.
  if (isWritten) for (const event of write.events) sink.emit(stored, write.eventSource, event)
  return 0
}
