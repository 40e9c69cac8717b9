// SPDX-License-Identifier: Apache-2.0

// One reconcile of a PodCliqueScalingGroup: orphans, claims, members, the next step of an update, gang termination, status.
import {
  eventSource,
  type PodCliqueScalingGroup,
  type PodCliqueScalingGroupStatus,
  scalingGroupErrorCode,
} from '@grove/api'
import type { ReconcileContext, ReconcileResult } from '@grove/kube'
import { writeChildStatus } from '../apply/child-status.ts'
import { execute, executeInOrder } from '../apply/execute.ts'
import { firstBatch } from '../apply/writes.ts'
import { resources } from '../caches/resources.ts'
import { syncSharedClaims } from '../devices/shared-claims.ts'
import { ComponentFailed, failuresOf, ReconcileFailed, throwIfAny } from '../errors/coded-error.ts'
import { replicaCount } from '../layout/layout.ts'
import { groupLimitExceeded, isTemplateTooLarge, type LimitExceeded } from '../layout/limits.ts'
import { keyOf, type ObjectKey } from '../layout/object-key.ts'
import type { OperatorContext } from '../operator-context.ts'
import { adopt, orphansOfGroup } from '../ownership/adoption.ts'
import { withoutForeignFinalizers } from '../ownership/take-over.ts'
import { isUpdating } from '../state/child-state.ts'
import { endsBreach } from '../state/conditions.ts'
import { terminationDelayMs } from '../termination/breach.ts'
import { dueReplicas } from '../termination/confirmation.ts'
import { planGroupTermination } from '../termination/plan-group.ts'
import { planOnce } from '../update/child-update.ts'
import { type GroupUpdate, mayReplaceReplicas, planGroupUpdate } from '../update/group-update.ts'
import { isAnnounced, isPaused } from '../update/set-progress.ts'
import { type GroupSnapshot, observeGroup } from './observe.ts'
import {
  claimsOf,
  memberCreations,
  memberPatches,
  planGroup,
  planStatus,
  relabels,
  replacement,
  unknownGroup,
} from './plan.ts'
import { removeReplicas } from './replica-removal.ts'
import { statusPlanners } from './status-planners.ts'

type UpdatePlanner = (snapshot: GroupSnapshot) => GroupUpdate

export async function reconcileScalingGroup(
  key: ObjectKey,
  { signal }: ReconcileContext,
  context: OperatorContext,
): Promise<ReconcileResult | undefined> {
  const observed = observeGroup(key, context)
  if (observed.kind === 'absent') return undefined
  if (observed.kind === 'terminating') {
    const intents = withoutForeignFinalizers(resources.podCliqueScalingGroups, observed.group)
    throwIfAny((await execute(intents, context, { signal })).failures)
    return undefined
  }
  const { set, group } = observed.snapshot
  let deadline: number | undefined
  let againMs = 0
  const failures: unknown[] = []
  const now = context.clock.now()
  const planUpdate: UpdatePlanner = planOnce(
    ({ set, group, cliques }) => [set, group, ...cliques],
    ({ set, group, cliques, hasOutdatedPods }) => planGroupUpdate(set, group, cliques, hasOutdatedPods, now),
  )
  const limit = limitOf(observed.snapshot)
  if (!limit && !isTemplateTooLarge(set, context.configuration)) {
    // Gang termination does not depend on members that cannot be created. An update does: it would delete more.
    const sync = async () => {
      againMs = await syncMembers(observed.snapshot, context, signal)
      await replaceOutdated(observeAgain(observed.snapshot, context), planUpdate, context, signal)
    }
    failures.push(...(await failuresOf(sync())))
    const terminate = async () => {
      deadline = await terminateReplicas(observeAgain(observed.snapshot, context), context, signal)
    }
    failures.push(...(await failuresOf(terminate())))
  }
  const failure = failures.length ? new ReconcileFailed(failures) : undefined
  const waitMs = await updateStatus(key, failure ?? limit, planUpdate, context, signal)
  if (limit?.isNew(group.status?.lastErrors))
    context.events.emit(group, eventSource.podCliqueScalingGroup, limit.event)
  if (failure) throw failure
  const soonestMs = againMs || waitMs
  return {
    ...(deadline !== undefined && { requeueAt: deadline }),
    ...(soonestMs > 0 && { requeueAfter: soonestMs }),
  }
}

/** A group whose replica count is above its limit keeps its members. A change of the count enqueues it. */
function limitOf({ set, group, instance, configuration }: GroupSnapshot): LimitExceeded | undefined {
  return instance && groupLimitExceeded(set, instance, group.spec.replicas, configuration)
}

/** The caches include the operator's own writes. */
function observeAgain(before: GroupSnapshot, context: OperatorContext): GroupSnapshot {
  const observed = observeGroup(keyOf(before.group), context)
  return observed.kind === 'live' ? observed.snapshot : before
}

/** Delay before the next slice of members is created. */
const nextSliceMs = 1

/** Returns the delay after which members are created that are too many for one reconcile. */
async function syncMembers(
  before: GroupSnapshot,
  context: OperatorContext,
  signal: AbortSignal,
): Promise<number> {
  const { set, group, instance } = before
  const code = scalingGroupErrorCode.setOwner
  await adopt(
    orphansOfGroup(set, group, context.caches),
    resources.podCliqueScalingGroups,
    group,
    code,
    context,
    signal,
  )
  if (!instance) throw new ComponentFailed('PodClique', unknownGroup(before))
  const claims = await syncSharedClaims(claimsOf({ ...before, instance }), context, signal)
  const snapshot = observeAgain(before, context)
  const input = { ...snapshot, instance }
  const plan = planGroup(input)
  const areHeldBack = plan.create.length > 0 && snapshot.isBeingRemoved
  const isSurplus = instance.setReplica >= replicaCount(set)
  // Members are created when their claims exist. Surplus replicas are deleted in any case.
  const mayCreate =
    claims.failures.length === 0 && !claims.hasMore && !areHeldBack && !isSurplus && isAnnounced(set)
  const relabelled = await executeInOrder(relabels(snapshot, plan.keep), context, { signal })
  const removed = await removeReplicas(snapshot, plan.removeReplicas, context, signal)
  const written = await execute(
    [...memberPatches(input, plan.keep), ...(mayCreate ? memberCreations(input, plan.create) : [])],
    context,
    { signal, tolerated: firstBatch },
  )
  const failures = [...claims.failures, ...relabelled, ...removed, ...written.failures]
  throwIfAny(failures.map(failure => new ComponentFailed('PodClique', failure)))
  if (areHeldBack) return 0
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

/** Deletes replicas that were in breach for too long and that the group can do without. Not during an update, unless paused. */
async function terminateReplicas(
  snapshot: GroupSnapshot,
  context: OperatorContext,
  signal: AbortSignal,
): Promise<number | undefined> {
  const { set, group, cliques } = snapshot
  if (!isPaused(set) && (isUpdating(group) || mayReplaceReplicas(set, group))) return undefined
  const plan = planGroupTermination(group, cliques, terminationDelayMs(set), context.clock.now())
  const due = await dueReplicas(set, group, plan.terminate, statusPlanners(context), context, signal)
  throwIfAny(await removeReplicas(snapshot, due, context, signal))
  return plan.deadline
}

/** Writes the status, at once or paced. Returns how long to wait for that or for the update. */
async function updateStatus(
  key: ObjectKey,
  failure: unknown,
  planUpdate: UpdatePlanner,
  context: OperatorContext,
  signal: AbortSignal,
): Promise<number> {
  const observed = observeGroup(key, context)
  const snapshot = observed.kind === 'live' ? observed.snapshot : undefined
  if (!snapshot) return 0
  // While the operator itself deletes the replica of the set, its members disappear on purpose.
  if (failure === undefined && snapshot.isBeingRemoved) return 0
  const { group: stored } = snapshot
  const update = planUpdate(snapshot)
  const isUrgent = (status: PodCliqueScalingGroupStatus) =>
    isUpdating(snapshot.set) || isAwaited(stored, status)
  const plan = planStatus(snapshot, update, context.clock.now())
  const waitMs = await writeChildStatus(statusKind, { stored, plan, failure, isUrgent }, context, signal)
  return waitMs || update.retryInMs
}

const statusKind = {
  resource: resources.podCliqueScalingGroups,
  eventSource: eventSource.podCliqueScalingGroup,
  errorCode: scalingGroupErrorCode.listCliques,
}

/** Reports whether the set waits for this status: that the group serves, or that all of it does. */
function isAwaited(
  { spec, status: before }: PodCliqueScalingGroup,
  now: PodCliqueScalingGroupStatus,
): boolean {
  if (endsBreach(before?.conditions, now.conditions)) return true
  const crosses = (threshold: number) =>
    (before?.availableReplicas ?? 0) >= threshold !== now.availableReplicas >= threshold
  return crosses(spec.minAvailable ?? 1) || crosses(spec.replicas)
}
