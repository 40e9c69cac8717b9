// SPDX-License-Identifier: Apache-2.0

// One pass over a PodCliqueScalingGroup: replicas beyond the wanted number go, missing members come, status follows.
import {
  eventSource,
  events,
  label,
  managedLabels,
  type PodClique,
  type PodCliqueScalingGroup,
  type PodCliqueScalingGroupStatus,
  scalingGroupErrorCode,
  selectorText,
} from '@grove/api'
import { isAlreadyExists, type ReconcileContext, type ReconcileResult, type Stored } from '@grove/kube'
import { groupInstanceOf, numberLabel } from '../clique-instance.ts'
import { CodedError, lastErrorsOf, PassFailed, textOf } from '../coded-error.ts'
import { terminationDelayMs } from '../gang-termination/breach.ts'
import { planGroupTermination } from '../gang-termination/plan-group.ts'
import { type CliqueInstance, range } from '../layout.ts'
import { type ObjectKey, refOf } from '../object-key.ts'
import { podClique } from '../objects/clique.ts'
import { claimsOfScalingGroup } from '../objects/resource-claim.ts'
import { type OperatorContext, timestamp } from '../operator-context.ts'
import { mergePatch } from '../owned-fields.ts'
import { owningSet } from '../owning-set.ts'
import { patchClique } from '../podcliqueset/children.ts'
import { isUpdatingSet, mayUpdate } from '../podcliqueset/update.ts'
import { resources } from '../resources.ts'
import { revisionOf } from '../revision-of-set.ts'
import { syncSharedClaims } from '../shared-claims.ts'
import { writeStatus } from '../status-write.ts'
import type { StoredScalingGroup, StoredSet } from '../stored.ts'
import { isToBeRenamed, releaseForeign, renameClique } from '../take-over.ts'
import { runAll } from '../writes.ts'
import { planGroup } from './plan.ts'
import { isUpdatingGroup, planGroupStatus } from './status.ts'
import { planGroupUpdate } from './update.ts'
import { groupProgress } from './update-progress.ts'

const emptyStatus = { scheduledReplicas: 0, availableReplicas: 0, updatedReplicas: 0 }

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
  const replaced: number[] = []
  let failure: unknown
  try {
    await syncMembers(set, group, context, signal)
    replaced.push(...(await replaceOutdated(set, group, context, signal)))
    deadline = await terminateReplicas(set, group, context, signal)
  } catch (error) {
    failure = error
  }
  const waitMs = await updateStatus(set, key, failure, replaced, context, signal)
  if (failure) throw failure
  return {
    ...(deadline !== undefined && { requeueAt: deadline }),
    ...(waitMs > 0 && { requeueAfter: waitMs }),
  }
}

async function syncMembers(
  set: StoredSet,
  group: StoredScalingGroup,
  context: OperatorContext,
  signal: AbortSignal,
): Promise<void> {
  const { world } = context
  const instance = groupInstanceOf(set, group)
  if (!instance)
    throw new CodedError(
      'Sync',
      scalingGroupErrorCode.missingReplicaIndex,
      `PodCliqueSet ${set.metadata.namespace}/${set.metadata.name} has no scaling group that makes ${group.metadata.name}`,
    )
  await syncSharedClaims(
    {
      set,
      ownerUid: group.metadata.uid,
      entries: instance.config.resourceSharing ?? [],
      wanted: find => claimsOfScalingGroup(set, instance, group, range(0, group.spec.replicas), find),
      code: scalingGroupErrorCode.syncResourceClaim,
    },
    context,
    signal,
  )
  const cliques = world.cliques.byIndex('controller', group.metadata.uid)
  const plan = planGroup({ set, group, instance, cliques })
  const failures = [
    // Under our name of the template; nothing else of members is changed while they live.
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
    ...(await runAll(plan.create.map(member => () => createMember(set, group, member, context, signal)))),
    ...(await runAll(
      // With OnDelete the members follow the template at once and their pods when somebody deletes them.
      set.spec.updateStrategy?.type === 'OnDelete'
        ? plan.keep.map(
            ({ clique, instance: member }) =>
              () =>
                patchMember(set, group, clique, member, context, signal),
          )
        : [],
    )),
  ]
  if (failures.length) throw new PassFailed(failures)
}

/** Serving replicas that were told to go because a newer revision is wanted and it is this group's turn. */
async function replaceOutdated(
  set: StoredSet,
  group: StoredScalingGroup,
  context: OperatorContext,
  signal: AbortSignal,
): Promise<number[]> {
  if (!isOwnTurn(set, group)) return []
  const cliques = context.world.cliques.byIndex('controller', group.metadata.uid)
  const { removeReplicas: indexes } = planGroupUpdate({
    replicas: group.spec.replicas,
    cliqueCount: group.spec.cliqueNames.length,
    cliques,
    revision: revisionOf(set),
  })
  const failures = await removeReplicas(set, group, indexes, context, signal)
  if (failures.length) throw new PassFailed(failures)
  return indexes.length === 1 ? [...indexes] : []
}

/** Takes down replicas that were in breach for too long and that the group can do without. Not during an update. */
async function terminateReplicas(
  set: StoredSet,
  group: StoredScalingGroup,
  context: OperatorContext,
  signal: AbortSignal,
): Promise<number | undefined> {
  if (isUpdatingGroup(group) || isOwnTurn(set, group)) return undefined
  const cliques = context.world.cliques.byIndex('controller', group.metadata.uid)
  const plan = planGroupTermination(group, cliques, terminationDelayMs(set), context.clock.now())
  const failures = await removeReplicas(set, group, plan.terminate, context, signal)
  if (failures.length) throw new PassFailed(failures)
  return plan.deadline
}

function isOwnTurn(set: StoredSet, group: StoredScalingGroup): boolean {
  const replica = numberLabel(group.metadata.labels, label.setReplicaIndex)
  return replica !== undefined && mayUpdate(set, replica)
}

async function createMember(
  set: StoredSet,
  group: StoredScalingGroup,
  member: CliqueInstance,
  { world, events: sink }: OperatorContext,
  signal: AbortSignal,
): Promise<void> {
  const id = `${set.metadata.namespace}/${member.name}`
  const wanted = podClique(set, member, group, revisionOf(set).templateHashes[member.template.name] ?? '')
  try {
    await world.client.create(resources.podCliques, wanted, { signal })
    sink.emit(group, eventSource.podCliqueScalingGroup, events.memberCliqueCreated(id))
  } catch (error) {
    if (isAlreadyExists(error)) return
    sink.emit(group, eventSource.podCliqueScalingGroup, events.memberCliqueCreateFailed(id, textOf(error)))
    throw new CodedError('Sync', scalingGroupErrorCode.createCliques, `Error creating PodClique ${id}`, error)
  }
}

async function patchMember(
  set: StoredSet,
  group: StoredScalingGroup,
  clique: PodClique,
  member: CliqueInstance,
  { world, events: sink }: OperatorContext,
  signal: AbortSignal,
): Promise<void> {
  const wanted = podClique(set, member, group, revisionOf(set).templateHashes[member.template.name] ?? '')
  const patch = patchClique(clique as Parameters<typeof patchClique>[0], wanted)
  if (!patch) return
  const { namespace } = set.metadata
  const id = `${namespace}/${member.name}`
  try {
    await world.client.patch(
      resources.podCliques,
      { namespace, name: member.name },
      { merge: patch },
      { signal },
    )
    sink.emit(group, eventSource.podCliqueScalingGroup, events.cliqueApplied(id))
  } catch (error) {
    sink.emit(group, eventSource.podCliqueScalingGroup, events.memberCliqueApplyFailed(id, textOf(error)))
    throw new CodedError('Sync', scalingGroupErrorCode.applyCliques, `Error updating PodClique ${id}`, error)
  }
}

/** Pods and cliques of the replicas by label: two requests, however many they are. */
async function removeReplicas(
  set: StoredSet,
  group: StoredScalingGroup,
  replicas: readonly number[],
  { world, events: sink }: OperatorContext,
  signal: AbortSignal,
): Promise<unknown[]> {
  if (replicas.length === 0) return []
  const { namespace } = set.metadata
  const labels = { ...managedLabels(set.metadata.name), [label.scalingGroup]: group.metadata.name }
  const labelSelector = `${selectorText(labels)},${label.scalingGroupReplicaIndex} in (${replicas.join(',')})`
  try {
    await world.client.deleteCollection(resources.podCliques, { namespace, labelSelector, signal })
    await world.client.deleteCollection(resources.pods, { namespace, labelSelector, signal })
    for (const replica of replicas)
      sink.emit(
        set,
        eventSource.podCliqueScalingGroup,
        events.scalingGroupReplicaDeleted(group.metadata.name, replica),
      )
    return []
  } catch (error) {
    for (const replica of replicas)
      sink.emit(
        set,
        eventSource.podCliqueScalingGroup,
        events.scalingGroupReplicaDeleteFailed(group.metadata.name, replica, textOf(error)),
      )
    return [
      new CodedError(
        'Sync',
        scalingGroupErrorCode.deleteCliques,
        `Error deleting replicas ${replicas.join(', ')}`,
        error,
      ),
    ]
  }
}

async function updateStatus(
  set: StoredSet,
  key: ObjectKey,
  failure: unknown,
  replaced: readonly number[],
  context: OperatorContext,
  signal: AbortSignal,
): Promise<number> {
  const { world, events: sink, configuration, statusPace } = context
  const group = world.groups.get(refOf(key))
  if (!group || group.metadata.deletionTimestamp) return 0
  const now = timestamp(context.clock)
  const revision = revisionOf(set)
  const cliques = world.cliques.byIndex('controller', group.metadata.uid)
  const { finished } = planGroupUpdate({
    replicas: group.spec.replicas,
    cliqueCount: group.spec.cliqueNames.length,
    cliques,
    revision,
  })
  const updateProgress = groupProgress({
    before: revision.renamed(group.status?.updateProgress),
    generationHash: revision.generationHash,
    outdated: !finished || replaced.length > 0,
    mayUpdate: isOwnTurn(set, group as StoredScalingGroup),
    onDelete: set.spec.updateStrategy?.type === 'OnDelete',
    replaced,
    now,
  })
  const plan = planGroupStatus({
    set: set.metadata.name,
    group: (updateProgress
      ? { ...group, status: { ...emptyStatus, ...group.status, updateProgress } }
      : group) as StoredScalingGroup,
    cliques,
    revision,
    onTotalLoss: configuration.gangTermination.onTotalLoss,
    now,
  })
  const status = {
    ...plan.status,
    lastErrors: failure ? lastErrorsOf(failure, scalingGroupErrorCode.listCliques, now) : [],
  }
  if (!mergePatch(group.status, status)) return 0
  const urges = failure !== undefined || isUpdatingSet(set) || isAwaited(group, status)
  const waitMs = urges ? 0 : statusPace.waitMs(group.metadata.uid)
  if (waitMs > 0) return waitMs
  await writeStatus(world, resources.podCliqueScalingGroups, group, status, { signal })
  statusPace.wrote(group.metadata.uid)
  for (const event of plan.events) sink.emit(group, eventSource.podCliqueScalingGroup, event)
  return 0
}

/** Whether the set waits for what this status says: that the group serves, or that all of it does. */
function isAwaited(
  { spec, status: before }: PodCliqueScalingGroup,
  now: PodCliqueScalingGroupStatus,
): boolean {
  const crosses = (threshold: number) =>
    (before?.availableReplicas ?? 0) >= threshold !== now.availableReplicas >= threshold
  return crosses(spec.minAvailable ?? 1) || crosses(spec.replicas)
}
