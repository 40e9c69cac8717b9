// SPDX-License-Identifier: Apache-2.0

// Executes the plan of a PodCliqueScalingGroup step by step: orphans, claims, members, the next replacement of an
// update, gang termination. Each step is planned from a new snapshot, because the caches include the writes of the
// step before.
import { scalingGroupErrorCode } from '@grove/api'
import { execute, executeInOrder } from '../apply/execute.ts'
import { firstBatch } from '../apply/writes.ts'
import { resources } from '../caches/resources.ts'
import { syncSharedClaims } from '../devices/shared-claims.ts'
import { ComponentFailed, failuresOf, throwIfAny } from '../errors/coded-error.ts'
import { groupReplicaOf } from '../layout/clique-instance.ts'
import { groupKey } from '../layout/object-key.ts'
import type { OperatorContext } from '../operator-context.ts'
import { adopt, orphansOfGroup } from '../ownership/adoption.ts'
import { cliqueBreach, earliest } from '../termination/breach.ts'
import { dueReplicas } from '../termination/confirmation.ts'
import { nextSliceMs } from '../timings/timings.ts'
import { type GroupSnapshot, observeGroup } from './observe.ts'
import {
  claimsOf,
  heldReplicas,
  mayCreateMembers,
  memberCreations,
  memberPatches,
  planGroup,
  planTerminations,
  relabels,
  replacement,
  type UpdatePlanner,
  unknownGroup,
} from './plan.ts'
import { removeReplicas } from './replica-removal.ts'
import { statusPlanners } from './status-planners.ts'

export interface SyncedGroup {
  readonly failures: readonly unknown[]
  /** The delay after which members are created that are too many for one reconcile; 0 if none are left. */
  readonly sliceMs: number
  /** When the next replica is due for gang termination, milliseconds since the epoch. */
  readonly deadline: number | undefined
}

/** Gang termination does not depend on members that cannot be created. An update does: it would delete more. */
export async function syncGroup(
  first: GroupSnapshot,
  planUpdate: UpdatePlanner,
  context: OperatorContext,
  signal: AbortSignal,
): Promise<SyncedGroup> {
  let sliceMs = 0
  let deadline: number | undefined
  const sync = async () => {
    sliceMs = await syncMembers(first, planUpdate, context, signal)
    await replaceOutdated(observeAgain(first, context), planUpdate, context, signal)
  }
  const terminate = async () => {
    deadline = await terminateReplicas(observeAgain(first, context), context, signal)
  }
  const failures = [...(await failuresOf(sync())), ...(await failuresOf(terminate()))]
  return { failures, sliceMs, deadline }
}

function observeAgain(before: GroupSnapshot, context: OperatorContext): GroupSnapshot {
  const observed = observeGroup(groupKey(before.group.metadata), context)
  return observed.kind === 'live' ? observed.snapshot : before
}

async function syncMembers(
  before: GroupSnapshot,
  planUpdate: UpdatePlanner,
  context: OperatorContext,
  signal: AbortSignal,
): Promise<number> {
  const { set, group, instance } = before
  const orphans = orphansOfGroup(set, group, context.caches)
  const owner = resources.podCliqueScalingGroups
  await adopt(orphans, owner, group, scalingGroupErrorCode.setOwner, context, signal)
  if (!instance) throw new ComponentFailed('PodClique', unknownGroup(before))
  const claims = await syncSharedClaims(claimsOf({ ...before, instance }), context, signal)
  const snapshot = observeAgain(before, context)
  const input = { ...snapshot, instance }
  const plan = planGroup(input, heldReplicas(snapshot, planUpdate(snapshot)))
  // Members are created when their claims exist. Surplus replicas are deleted in any case.
  const mayCreate = mayCreateMembers(input) && claims.failures.length === 0 && !claims.hasMore
  const relabelled = await executeInOrder(relabels(snapshot, plan.keep), context, { signal })
  const removed = await removeReplicas(snapshot, plan.removeReplicas, context, signal)
  const written = await execute(
    [...memberPatches(input, plan.keep), ...(mayCreate ? memberCreations(input, plan.create) : [])],
    context,
    { signal, tolerated: firstBatch },
  )
  const failures = [...claims.failures, ...relabelled, ...removed, ...written.failures]
  throwIfAny(failures.map(failure => new ComponentFailed('PodClique', failure)))
  // The end of the removal enqueues the group.
  if (snapshot.isBeingRemoved && plan.create.length > 0) return 0
  return claims.hasMore || written.hasMore ? nextSliceMs : 0
}

/** Deletes the replicas that the update replaces next. */
async function replaceOutdated(
  snapshot: GroupSnapshot,
  planUpdate: UpdatePlanner,
  context: OperatorContext,
  signal: AbortSignal,
): Promise<void> {
  const { status, replicas } = replacement(snapshot, planUpdate(snapshot))
  throwIfAny(await executeInOrder([status], context, { signal }))
  throwIfAny(await removeReplicas(observeAgain(snapshot, context), replicas, context, signal))
}

/** Deletes replicas that were in breach for too long and that the group can do without. */
async function terminateReplicas(
  snapshot: GroupSnapshot,
  context: OperatorContext,
  signal: AbortSignal,
): Promise<number | undefined> {
  const plan = planTerminations(snapshot, context.clock.now())
  if (!plan) return undefined
  const { set, group, cliques } = snapshot
  const due = await dueReplicas(set, group, plan.terminate, statusPlanners(context), context, signal)
  throwIfAny(await removeReplicas(snapshot, due, context, signal))
  for (const replica of due) {
    const breach = earliest(cliques.filter(one => groupReplicaOf(one) === replica).map(cliqueBreach))
    if (breach)
      context.decisions?.replicaTerminated({ set, scalingGroup: group.metadata.name, replica, ...breach })
  }
  return plan.deadline
}
