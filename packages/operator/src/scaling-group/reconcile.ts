// SPDX-License-Identifier: Apache-2.0

// One pass over a PodCliqueScalingGroup: surplus replicas go, missing members come, status follows.
import {
  eventSource,
  label,
  type PodClique,
  type PodCliqueScalingGroup,
  type PodCliqueScalingGroupStatus,
  scalingGroupErrorCode,
} from '@grove/api'
import type { ReconcileContext, ReconcileResult, Stored } from '@grove/kube'
import { writeChildStatus } from '../apply/child-status.ts'
import { removalAfterMs } from '../apply/removals-under-way.ts'
import { firstBatch, mostCreated, runAll, runSlowStart } from '../apply/writes.ts'
import { resources } from '../caches/resources.ts'
import { syncSharedClaims } from '../devices/shared-claims.ts'
import { CodedError, ComponentFailed, failuresOf, ReconcileFailed } from '../errors/coded-error.ts'
import { groupInstanceOf, numberLabel } from '../layout/clique-instance.ts'
import { eachIndex, replicaCount } from '../layout/layout.ts'
import { groupLimitExceeded, isTemplateTooLarge, type LimitExceeded } from '../layout/limits.ts'
import { type ObjectKey, refOf } from '../layout/object-key.ts'
import type { StoredScalingGroup, StoredSet } from '../layout/stored.ts'
import { claimsOfScalingGroup } from '../objects/resource-claim.ts'
import type { OperatorContext } from '../operator-context.ts'
import { adopt, orphansOfGroup } from '../ownership/adoption.ts'
import { owningSet } from '../ownership/owner-lookup.ts'
import { isToBeRenamed, releaseForeign, renameClique } from '../ownership/take-over.ts'
import { isUpdating } from '../state/child-state.ts'
import { endsBreach } from '../state/conditions.ts'
import { terminationDelayMs } from '../termination/breach.ts'
import { dueReplicas } from '../termination/confirmation.ts'
import { planGroupTermination } from '../termination/plan-group.ts'
import { planOnce } from '../update/child-update.ts'
import { mayReplaceReplicas } from '../update/group-update.ts'
import { isAnnounced, isOnDelete, isPaused } from '../update/set-progress.ts'
import { createMember, patchMember, repairMember } from './members.ts'
import { groupUpdatePlanner, observeGroup, statusPlanners } from './observed-status.ts'
import { planGroup } from './plan.ts'
import { writeOffReplicas } from './planned-loss.ts'
import { replaceOutdated } from './replace-outdated.ts'
import { removeReplicas } from './replica-removal.ts'

/** Plans the update of the group with its members. */
type UpdatePlanner = ReturnType<typeof groupUpdatePlanner>

export async function reconcileScalingGroup(
  key: ObjectKey,
  { signal }: ReconcileContext,
  context: OperatorContext,
): Promise<ReconcileResult | undefined> {
  const { caches } = context
  const group = caches.groups.get(refOf(key)) as StoredScalingGroup | undefined
  if (!group) return undefined
  if (group.metadata.deletionTimestamp) {
    await releaseForeign(
      resources.podCliqueScalingGroups,
      group as Stored<PodCliqueScalingGroup>,
      context,
      signal,
    )
    return undefined
  }
  const set = owningSet(caches, group)
  if (!set || set.metadata.deletionTimestamp) return undefined
  let deadline: number | undefined
  let againMs = 0
  let failure: unknown
  const limit = limitOf(set, group, context)
  const planUpdate: UpdatePlanner = planOnce(groupUpdatePlanner(set, context.clock.now(), context))
  try {
    if (!limit && !isTemplateTooLarge(set, context.configuration)) {
      const owner = group as Stored<PodCliqueScalingGroup> & StoredScalingGroup
      const orphans = orphansOfGroup(set, group, caches)
      const code = scalingGroupErrorCode.setOwner
      await adopt(orphans, resources.podCliqueScalingGroups, owner, code, context, signal)
      againMs = await syncMembers(set, group, context, signal)
      if (mayReplaceReplicas(set, group)) {
        const stored = (caches.groups.get(refOf(key)) as StoredScalingGroup | undefined) ?? group
        const update = planUpdate(stored, caches.cliques.byIndex('controller', group.metadata.uid))
        await replaceOutdated(set, stored, update, context, signal)
      }
      deadline = await terminateReplicas(set, group, context, signal)
    }
  } catch (error) {
    failure = error
  }
  const waitMs = await updateStatus(set, key, failure ?? limit, planUpdate, context, signal)
  if (limit?.isNew(group.status?.lastErrors))
    context.events.emit(group, eventSource.podCliqueScalingGroup, limit.event)
  if (failure) throw failure
  const soonestMs = againMs || waitMs
  return {
    ...(deadline !== undefined && { requeueAt: deadline }),
    ...(soonestMs > 0 && { requeueAfter: soonestMs }),
  }
}

/** A group whose count is above its limit keeps what it has; a change of the count wakes it. */
function limitOf(
  set: StoredSet,
  group: StoredScalingGroup,
  { configuration }: OperatorContext,
): LimitExceeded | undefined {
  const instance = groupInstanceOf(set, group)
  return instance && groupLimitExceeded(set, instance, group.spec.replicas, configuration)
}

/** How soon to look again whether the replica of the set has been removed. */
const heldBackMs = 1_000
/** How soon to create the next slice. */
const nextSliceMs = 1

/** Returns how soon to look again when members are held back, or when there are more than one reconcile creates. */
async function syncMembers(
  set: StoredSet,
  group: StoredScalingGroup,
  context: OperatorContext,
  signal: AbortSignal,
): Promise<number> {
  const { caches } = context
  const instance = groupInstanceOf(set, group)
  if (!instance) throw new ComponentFailed('PodClique', unknownGroup(set, group))
  let hasAllClaims = true
  const unclaimed = await failuresOf(
    syncSharedClaims(
      {
        set,
        ownerUid: group.metadata.uid,
        entries: instance.config.resourceSharing ?? [],
        wanted: find => claimsOfScalingGroup(set, instance, group, eachIndex(0, group.spec.replicas), find),
        code: scalingGroupErrorCode.syncResourceClaim,
      },
      context,
      signal,
    ).then(progress => {
      hasAllClaims = progress === 'complete'
    }),
  )
  // Members come when their claims are there; replicas that are not wanted any more go in any case.
  const cliques = caches.cliques.byIndex('controller', group.metadata.uid)
  const plan = planGroup({ set, group, instance, cliques })
  const areHeldBack = plan.create.length > 0 && context.removals.has(set, instance.setReplica)
  const isSurplus = instance.setReplica >= replicaCount(set)
  const isReady = unclaimed.length === 0 && hasAllClaims && !areHeldBack && !isSurplus && isAnnounced(set)
  const create = isReady ? plan.create : []
  await writeOffReplicas(group, plan.removeReplicas, context, signal)
  const failures = [
    ...unclaimed,
    // Under our name of the template.
    ...(await runAll(
      plan.keep
        .filter(({ clique }) => isToBeRenamed(set, clique))
        .map(
          ({ clique }) =>
            () =>
              renameClique(set, clique as Stored<PodClique>, context, signal),
        ),
    )),
    ...(await removeReplicas(set, group, plan.removeReplicas, context, signal)),
    ...(
      await runSlowStart(
        create.map(member => () => createMember(set, group, member, context, signal)),
        { tolerated: firstBatch },
      )
    ).failures,
    ...(await runAll(
      plan.keep.map(
        ({ clique, instance: member }) =>
          () =>
            // With OnDelete members follow the template at once, their pods when somebody deletes them.
            isOnDelete(set)
              ? patchMember(set, group, clique, member, context, signal)
              : repairMember(set, clique, member, context, signal),
      ),
    )),
  ]
  if (failures.length)
    throw new ReconcileFailed(failures.map(failure => new ComponentFailed('PodClique', failure)))
  if (areHeldBack) return heldBackMs
  return hasAllClaims && create.length < mostCreated ? 0 : nextSliceMs
}

/** Why a group is no instance of anything in its set. */
function unknownGroup(set: StoredSet, { metadata }: StoredScalingGroup): CodedError {
  const { name, labels } = metadata
  const text = labels?.[label.setReplicaIndex]
  if (text === undefined)
    return new CodedError(
      'Sync',
      scalingGroupErrorCode.missingReplicaIndex,
      `${name} has no label ${label.setReplicaIndex}`,
    )
  if (numberLabel(labels, label.setReplicaIndex) === undefined)
    return new CodedError(
      'Sync',
      scalingGroupErrorCode.replicaIndexNotANumber,
      `${name} has the label ${label.setReplicaIndex} "${text}", which is no index`,
    )
  return new CodedError(
    'Sync',
    scalingGroupErrorCode.createCliques,
    `PodCliqueSet ${set.metadata.namespace}/${set.metadata.name} has no scaling group that makes ${name}`,
  )
}

/** Takes down replicas that were in breach for too long and can be done without. Not during an update, unless it is paused. */
async function terminateReplicas(
  set: StoredSet,
  group: StoredScalingGroup,
  context: OperatorContext,
  signal: AbortSignal,
): Promise<number | undefined> {
  if (!isPaused(set) && (isUpdating(group) || mayReplaceReplicas(set, group))) return undefined
  const cliques = context.caches.cliques.byIndex('controller', group.metadata.uid)
  const plan = planGroupTermination(group, cliques, terminationDelayMs(set), context.clock.now())
  const due = await dueReplicas(set, group, plan.terminate, statusPlanners(context), context, signal)
  await writeOffReplicas(group, due, context, signal)
  const failures = await removeReplicas(set, group, due, context, signal)
  if (failures.length) throw new ReconcileFailed(failures)
  return plan.deadline
}

/** Writes the status, at once or paced. Returns how long to wait for that or for the update. */
async function updateStatus(
  set: StoredSet,
  key: ObjectKey,
  failure: unknown,
  planUpdate: UpdatePlanner,
  context: OperatorContext,
  signal: AbortSignal,
): Promise<number> {
  const { caches } = context
  const stored = caches.groups.get(refOf(key)) as Stored<PodCliqueScalingGroup> & StoredScalingGroup
  if (!stored || stored.metadata.deletionTimestamp) return 0
  // While the operator itself removes the replica of the set, its members disappear on purpose.
  const replica = numberLabel(stored.metadata.labels, label.setReplicaIndex)
  if (failure === undefined && replica !== undefined && context.removals.has(set, replica))
    return removalAfterMs
  const cliques = caches.cliques.byIndex('controller', stored.metadata.uid)
  const update = planUpdate(stored, cliques)
  const waitMs = await writeChildStatus(
    {
      resource: resources.podCliqueScalingGroups,
      stored,
      ...observeGroup(set, stored, cliques, update, context),
      eventSource: eventSource.podCliqueScalingGroup,
      failure,
      errorCode: scalingGroupErrorCode.listCliques,
      isUrgent: status => isUpdating(set) || isAwaited(stored, status),
    },
    context,
    signal,
  )
  return waitMs || update.retryInMs
}

/** Whether the set waits for what this status says: that the group serves, or that all of it does. */
function isAwaited(
  { spec, status: before }: PodCliqueScalingGroup,
  now: PodCliqueScalingGroupStatus,
): boolean {
  if (endsBreach(before?.conditions, now.conditions)) return true
  const crosses = (threshold: number) =>
    (before?.availableReplicas ?? 0) >= threshold !== now.availableReplicas >= threshold
  return crosses(spec.minAvailable ?? 1) || crosses(spec.replicas)
}
