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
import { groupInstanceOf, numberLabel } from '../clique-instance.ts'
import { CodedError, ComponentFailed, failuresOf, lastErrorsOf, PassFailed } from '../coded-error.ts'
import { endsBreach } from '../condition-list.ts'
import { terminationDelayMs } from '../gang-termination/breach.ts'
import { dueReplicas } from '../gang-termination/confirmation.ts'
import { planGroupTermination } from '../gang-termination/plan-group.ts'
import { range } from '../layout.ts'
import { type ObjectKey, refOf } from '../object-key.ts'
import { claimsOfScalingGroup } from '../objects/resource-claim.ts'
import { type OperatorContext, timestamp } from '../operator-context.ts'
import { adopt, orphansOfGroup } from '../orphans.ts'
import { mergePatch } from '../owned-fields.ts'
import { owningSet } from '../owning-set.ts'
import { isAnnounced, isOnDelete, isUpdatingSet } from '../podcliqueset/update.ts'
import { resources } from '../resources.ts'
import { syncSharedClaims } from '../shared-claims.ts'
import { writeStatus } from '../status-write.ts'
import type { StoredScalingGroup, StoredSet } from '../stored.ts'
import { isToBeRenamed, releaseForeign, renameClique } from '../take-over.ts'
import { runAll } from '../writes.ts'
import { createMember, mendMember, patchMember } from './members.ts'
import { observeGroup } from './observed-status.ts'
import { planGroup } from './plan.ts'
import { isOwnTurn, replaceOutdated } from './replace-outdated.ts'
import { removeReplicas } from './replica-removal.ts'
import { isUpdatingGroup } from './status.ts'

export async function reconcileScalingGroup(
  key: ObjectKey,
  { signal }: ReconcileContext,
  context: OperatorContext,
): Promise<ReconcileResult | undefined> {
  const { world } = context
  const group = world.groups.get(refOf(key)) as StoredScalingGroup | undefined
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
  const set = owningSet(world, group)
  if (!set || set.metadata.deletionTimestamp) return undefined
  let deadline: number | undefined
  let areHeldBack = false
  let failure: unknown
  try {
    const owner = group as Stored<PodCliqueScalingGroup> & StoredScalingGroup
    const orphans = orphansOfGroup(set, group, world)
    const code = scalingGroupErrorCode.setOwner
    await adopt(orphans, resources.podCliqueScalingGroups, owner, code, context, signal)
    areHeldBack = await syncMembers(set, group, context, signal)
    await replaceOutdated(set, group, context, signal)
    deadline = await terminateReplicas(set, group, context, signal)
  } catch (error) {
    failure = error
  }
  const waitMs = await updateStatus(set, key, failure, context, signal)
  if (failure) throw failure
  const soonestMs = areHeldBack ? heldBackMs : waitMs
  return {
    ...(deadline !== undefined && { requeueAt: deadline }),
    ...(soonestMs > 0 && { requeueAfter: soonestMs }),
  }
}

/** How soon to look again whether the replica of the set has been removed. */
const heldBackMs = 1_000

/** Tells whether members are held back until what was there before them has been told to go. */
async function syncMembers(
  set: StoredSet,
  group: StoredScalingGroup,
  context: OperatorContext,
  signal: AbortSignal,
): Promise<boolean> {
  const { world } = context
  const instance = groupInstanceOf(set, group)
  if (!instance) throw new ComponentFailed('PodClique', unknownGroup(set, group))
  const unclaimed = await failuresOf(
    syncSharedClaims(
      {
        set,
        ownerUid: group.metadata.uid,
        entries: instance.config.resourceSharing ?? [],
        wanted: find => claimsOfScalingGroup(set, instance, group, range(0, group.spec.replicas), find),
        code: scalingGroupErrorCode.syncResourceClaim,
      },
      context,
      signal,
    ),
  )
  // Members come when their claims are there; replicas that are not wanted any more go in any case.
  const cliques = world.cliques.byIndex('controller', group.metadata.uid)
  const plan = planGroup({ set, group, instance, cliques })
  const areHeldBack = plan.create.length > 0 && context.removals.has(set, instance.setReplica)
  const create = unclaimed.length || areHeldBack || !isAnnounced(set) ? [] : plan.create
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
    ...(await runAll(create.map(member => () => createMember(set, group, member, context, signal)))),
    ...(await runAll(
      plan.keep.map(
        ({ clique, instance: member }) =>
          () =>
            // With OnDelete members follow the template at once, their pods when somebody deletes them.
            isOnDelete(set)
              ? patchMember(set, group, clique, member, context, signal)
              : mendMember(set, clique, member, context, signal),
      ),
    )),
  ]
  if (failures.length)
    throw new PassFailed(failures.map(failure => new ComponentFailed('PodClique', failure)))
  return areHeldBack
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

/** Takes down replicas that were in breach for too long and can be done without. Not during an update. */
async function terminateReplicas(
  set: StoredSet,
  group: StoredScalingGroup,
  context: OperatorContext,
  signal: AbortSignal,
): Promise<number | undefined> {
  if (isUpdatingGroup(group) || isOwnTurn(set, group)) return undefined
  const cliques = context.world.cliques.byIndex('controller', group.metadata.uid)
  const plan = planGroupTermination(group, cliques, terminationDelayMs(set), context.clock.now())
  const due = await dueReplicas(set, group, plan.terminate, context, signal)
  const failures = await removeReplicas(set, group, due, context, signal)
  if (failures.length) throw new PassFailed(failures)
  return plan.deadline
}

/** Writes the status, now or when it is its turn; tells how long to wait for that or for the update. */
async function updateStatus(
  set: StoredSet,
  key: ObjectKey,
  failure: unknown,
  context: OperatorContext,
  signal: AbortSignal,
): Promise<number> {
  const { world, events: sink, statusPace } = context
  const stored = world.groups.get(refOf(key)) as Stored<PodCliqueScalingGroup> & StoredScalingGroup
  if (!stored || stored.metadata.deletionTimestamp) return 0
  const cliques = world.cliques.byIndex('controller', stored.metadata.uid)
  const observed = observeGroup(set, stored, cliques, context)
  const status = {
    ...observed.status,
    lastErrors: failure
      ? lastErrorsOf(failure, scalingGroupErrorCode.listCliques, timestamp(context.clock))
      : [],
  }
  if (!mergePatch(stored.status, status)) {
    statusPace.drop(stored.metadata.uid)
    return observed.settlesInMs
  }
  const urges = failure !== undefined || isUpdatingSet(set) || isAwaited(stored, status)
  const waitMs = urges ? 0 : statusPace.waitMs(stored.metadata.uid)
  if (waitMs > 0) return waitMs
  await writeStatus(world, resources.podCliqueScalingGroups, stored, status, { signal })
  statusPace.wrote(stored.metadata.uid)
  for (const event of observed.events) sink.emit(stored, eventSource.podCliqueScalingGroup, event)
  return observed.settlesInMs
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
