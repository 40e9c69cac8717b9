// SPDX-License-Identifier: Apache-2.0

// Writes the status of a PodGang: whether it is complete, and the fields derived from its pods unless its scheduler
// writes them.
import type { ConditionValue } from '@grove/api'
import type { ReconcileResult } from '@grove/kube'
import { executeOrThrow } from '../apply/execute.ts'
import type { WriteStatus } from '../apply/intent.ts'
import { mergePatch } from '../apply/owned-fields.ts'
import { resources } from '../caches/resources.ts'
import type { GangKey } from '../layout/gang-key.ts'
import { isControlledBy } from '../layout/owner.ts'
import type { StoredGang } from '../layout/stored.ts'
import type { OperatorContext } from '../operator-context.ts'
import { findCondition, timestamp } from '../state/conditions.ts'
import { lostPodGraceMs } from '../timings/timings.ts'
import { reportedIncomplete } from './incomplete.ts'
import type { GangSnapshot } from './observe.ts'
import type { GangPlan } from './plan.ts'
import { statusFromPods, statusWith } from './status.ts'

export interface GangReport {
  readonly key: GangKey
  readonly gang: StoredGang
  readonly snapshot: GangSnapshot
  readonly plan: GangPlan
  readonly incompleteMs: number
}

/**
 * Reports an incomplete gang only if nothing was reported yet or it stays incomplete. Changes of Initialized are not
 * debounced, all others are.
 */
export async function reportGang(
  { key, gang, snapshot, plan: { initialized, isComplete }, incompleteMs }: GangReport,
  context: OperatorContext,
  signal: AbortSignal,
): Promise<ReconcileResult | undefined> {
  const { statusDebounce } = context.memory
  const { uid } = gang.metadata
  const known = findCondition(gang.status?.conditions, initialized.type)
  const isSame = known?.status === initialized.status && (isComplete || known.message === initialized.message)
  const heldMs = known && !isSame && !isComplete ? Math.max(0, lostPodGraceMs - incompleteMs) : 0
  const later = heldMs > 0 ? { requeueAfter: heldMs } : undefined
  // While pods are being created, the message would change with every pod.
  const reported = heldMs > 0 && known?.status === 'False' ? (known as ConditionValue) : initialized
  const status = statusOf(gang, snapshot, reported, heldMs > 0, context)
  if (!mergePatch(gang.status, status)) {
    statusDebounce.clear(uid)
    return later
  }
  const isUrgent = !isSame && heldMs === 0
  const waitMs = isUrgent ? 0 : statusDebounce.delayMs(uid)
  if (waitMs > 0) return { requeueAfter: heldMs > 0 ? Math.min(waitMs, heldMs) : waitMs }
  const write: WriteStatus = {
    kind: 'writeStatus',
    resource: resources.podGangs,
    object: gang,
    status,
    // Other objects depend only on Initialized. The other fields are information for users.
    ...(!isUrgent && { priority: 'background' }),
  }
  await executeOrThrow([write], context, signal)
  statusDebounce.clear(uid)
  if (!isComplete && heldMs === 0) reportedIncomplete(snapshot.set, key, context)
  return later
}

function statusOf(
  gang: StoredGang,
  snapshot: GangSnapshot,
  initialized: ConditionValue,
  isHeld: boolean,
  { caches, clock }: OperatorContext,
) {
  const now = timestamp(clock)
  const own = isHeld ? gang.status : statusWith(gang, initialized, now)
  const { backend } = snapshot
  if (backend.writesGangStatus) return own
  const schedulerMessage =
    backend.unschedulableMessage &&
    caches.optional.schedulerObjects
      .map(cache => cache.get(gang.metadata))
      .filter(object => object && isControlledBy(object, gang.metadata.uid))
      .map(object => backend.unschedulableMessage!(object!))
      .find(message => message !== undefined)
  return statusFromPods(
    { ...gang, ...(own && { status: own }) },
    { ...snapshot, initialized, schedulerMessage },
    now,
  )
}
