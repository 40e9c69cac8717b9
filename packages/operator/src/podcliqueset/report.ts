// SPDX-License-Identifier: Apache-2.0

// Reports a reconcile of a PodCliqueSet in its status.
import { eventSource, setErrorCode } from '@grove/api'
import { executeOrThrow } from '../apply/execute.ts'
import { aggregate, ComponentFailed, lastErrorsOf } from '../errors/coded-error.ts'
import { LimitExceeded } from '../layout/limits.ts'
import type { StoredSet } from '../layout/stored.ts'
import { timestamp } from '../state/conditions.ts'
import { observeSynced } from './observe.ts'
import { planStatus, statusWrite } from './plan.ts'
import { stallEvent } from './stall.ts'
import type { SetParts, SyncedSet } from './sync.ts'

/** Writes the status. Returns when it changes without an event, in milliseconds since the epoch. */
export async function reportSet(
  { set, isAnnounced, isSynced, failures }: SyncedSet,
  parts: SetParts,
  signal: AbortSignal,
): Promise<number | undefined> {
  const { context, replicas } = parts
  const errors = aggregate([...failures, ...(await obstacles(set, parts, signal))])
  const snapshot = observeSynced(set, context, replicas)
  if (!snapshot) return undefined
  const now = timestamp(context.clock)
  const before = snapshot.set.status?.lastErrors
  const lastErrors = errors ? lastErrorsOf(errors, setErrorCode.updateStatus, now, before) : []
  const { status, deadline } = planStatus(snapshot, { isAnnounced, isSynced, lastErrors, now })
  await executeOrThrow([statusWrite(snapshot.set, status)], context, signal)
  const stalled = stallEvent(snapshot.set.status?.conditions, status.conditions)
  if (stalled) context.events.emit(snapshot.set, eventSource.podCliqueSet, stalled)
  for (const failure of failures)
    if (failure instanceof LimitExceeded && failure.isNew(before))
      context.events.emit(set, eventSource.podCliqueSet, failure.event)
  return deadline
}

/**
 * Failures of gangs and missing tokens. The set reports them, other controllers retry them, and they do not stop an
 * update.
 */
async function obstacles(
  set: StoredSet,
  { context, tokens }: SetParts,
  signal: AbortSignal,
): Promise<unknown[]> {
  const noToken = await tokens.poll(set, signal)
  const ofGangs = context.memory.gangFailures.get(set)?.values() ?? []
  return [
    ...Array.from(ofGangs, error => new ComponentFailed('PodGang', error)),
    ...(noToken ? [new ComponentFailed('ServiceAccountTokenSecret', noToken)] : []),
  ]
}
