// SPDX-License-Identifier: Apache-2.0

// The plan for a PodCliqueScalingGroup: pure functions from a snapshot and the time to intents.
import {
  eventSource,
  events,
  label,
  type PodClique,
  type PodCliqueScalingGroupStatus,
  scalingGroupErrorCode,
} from '@grove/api'
import type { ChildReport } from '../apply/child-status.ts'
import type { Create, Intent, Patch } from '../apply/intent.ts'
import { mostCreated } from '../apply/writes.ts'
import { resources } from '../caches/resources.ts'
import type { SharedClaims } from '../devices/shared-claims.ts'
import { groupErrors } from '../errors/catalogue.ts'
import type { CodedError } from '../errors/coded-error.ts'
import { memberReplicaOf, setReplicaOf } from '../layout/clique-instance.ts'
import {
  type CliqueInstance,
  eachIndex,
  memberCliques,
  memberNamed,
  replicaCount,
  type ScalingGroupInstance,
} from '../layout/layout.ts'
import { groupLimitExceeded, type LimitExceeded } from '../layout/limits.ts'
import { keyOf } from '../layout/object-key.ts'
import type { StoredClique, StoredScalingGroup, StoredSet } from '../layout/stored.ts'
import { cliqueLabels, podClique } from '../objects/clique.ts'
import { claimsOfScalingGroup } from '../objects/resource-claim.ts'
import { patchClique } from '../ownership/child-fields.ts'
import { cliqueRelabel, isToBeRelabelled, podRelabels } from '../ownership/take-over.ts'
import { revisionOf } from '../revision/set-revision.ts'
import { isUpdating } from '../state/child-state.ts'
import { timestampAt } from '../state/conditions.ts'
import { terminationDelayMs } from '../termination/breach.ts'
import { type GroupTermination, planGroupTermination } from '../termination/plan-group.ts'
import { planOnce } from '../update/child-update.ts'
import {
  type GroupUpdate,
  mayReplaceReplicas,
  planGroupUpdate,
  replicasToDelete,
  replicasToRecreate,
  statusWithSelection,
  withGroupProgress,
} from '../update/group-update.ts'
import { isAnnounced, isOnDelete, isPaused } from '../update/set-progress.ts'
import type { GroupSnapshot } from './observe.ts'
import { type GroupStatusPlan, isAwaited, planGroupStatus, scheduledWithout } from './status.ts'

export type UpdatePlanner = (snapshot: GroupSnapshot) => GroupUpdate

/** Plans the update once for each state of the group and its cliques. */
export function updatePlanner(now: number): UpdatePlanner {
  return planOnce(
    ({ set, group, cliques }) => [set, group, ...cliques],
    ({ set, group, cliques, hasOutdatedPods }) => planGroupUpdate(set, group, cliques, hasOutdatedPods, now),
  )
}

/** A group whose replica count is above its limit keeps its members. A change of the count enqueues it. */
export function limitOf({ set, group, instance, configuration }: GroupSnapshot): LimitExceeded | undefined {
  return instance && groupLimitExceeded(set, instance, group.spec.replicas, configuration)
}

export interface GroupInput {
  readonly set: StoredSet
  readonly group: StoredScalingGroup
  readonly instance: ScalingGroupInstance
  /** Controlled by this group, terminating ones included. */
  readonly cliques: readonly StoredClique[]
}

interface Member {
  readonly clique: StoredClique
  readonly instance: CliqueInstance
}

export interface GroupPlan {
  /** Missing cliques, at most `mostCreated`. A clique whose predecessor is terminating waits for its end. */
  readonly create: readonly CliqueInstance[]
  /** Indexes of replicas beyond the wanted number, ascending. */
  readonly removeReplicas: readonly number[]
  /**
   * Existing members that are wanted, and others whose labels were edited: the reconcile that follows the repair of
   * their labels deletes them.
   */
  readonly keep: readonly Member[]
}

/** Missing cliques of the replicas in `held` are not created. */
export function planGroup(
  { set, group, instance, cliques }: GroupInput,
  held: ReadonlySet<number> = new Set(),
): GroupPlan {
  const byName = new Map(cliques.map(clique => [clique.metadata.name, clique]))
  const surplus = cliques
    .filter(clique => !clique.metadata.deletionTimestamp)
    .map(clique => memberReplicaOf(group, clique))
    .filter(index => index !== undefined)
    .filter(index => index >= group.spec.replicas)
  const missing = Iterator.from(eachIndex(0, group.spec.replicas))
    .filter(replica => !held.has(replica))
    .flatMap(replica => memberCliques(set, instance, replica))
    .filter(member => !byName.has(member.name))
  return {
    create: missing.take(mostCreated).toArray(),
    removeReplicas: [...new Set(surplus)].sort((a, b) => a - b),
    keep: cliques.flatMap(clique => {
      const member = clique.metadata.deletionTimestamp
        ? undefined
        : memberNamed(set, instance, clique.metadata.name)
      if (!member) return []
      const isWanted = member.group!.replica < group.spec.replicas
      return isWanted || memberReplicaOf(group, clique) === undefined ? [{ clique, instance: member }] : []
    }),
  }
}

/**
 * Members are created for wanted replicas of the set that the operator is not deleting, and only with a template that
 * the set has announced.
 */
export function mayCreateMembers({ set, instance, isBeingRemoved }: GroupSnapshot & GroupInput): boolean {
  return !isBeingRemoved && instance.setReplica < replicaCount(set) && isAnnounced(set)
}

/** Replicas to terminate. None during an update, unless it is paused. */
export function planTerminations(
  { set, group, cliques }: GroupSnapshot,
  now: number,
): GroupTermination | undefined {
  if (!isPaused(set) && (isUpdating(group) || mayReplaceReplicas(set, group))) return undefined
  return planGroupTermination(group, cliques, terminationDelayMs(set), now)
}

/** The error for a group that no scaling group of its set defines: its label or the set was edited. */
export function unknownGroup({ set, group }: GroupSnapshot): CodedError {
  const { name, labels } = group.metadata
  const text = labels?.[label.setReplicaIndex]
  if (text === undefined) return groupErrors.noReplicaIndex(name)()
  if (setReplicaOf(group) === undefined) return groupErrors.replicaIndexNotANumber(name, text)()
  return groupErrors.unknownGroup(keyOf(set), name)()
}

export function claimsOf({ set, group, instance }: GroupInput): SharedClaims {
  return {
    set,
    ownerUid: group.metadata.uid,
    entries: instance.config.resourceSharing ?? [],
    wanted: find => claimsOfScalingGroup(set, instance, group, eachIndex(0, group.spec.replicas), find),
    code: scalingGroupErrorCode.syncResourceClaim,
  }
}

export function memberCreations(
  { set, group }: GroupInput,
  members: readonly CliqueInstance[],
): Create<PodClique>[] {
  return members.map(member => {
    const object = memberClique(set, group, member)
    const id = keyOf(object)
    return {
      kind: 'create',
      resource: resources.podCliques,
      object,
      priority: 'user',
      error: groupErrors.createMember(id),
      existing: {
        ownerUid: group.metadata.uid,
        awaitsDeletion: ({ metadata }) => metadata.labels?.[label.scalingGroup] === group.metadata.name,
        conflict: groupErrors.foreignMember(id),
      },
      report: {
        about: group,
        source: eventSource.podCliqueScalingGroup,
        done: () => events.memberCliqueCreated(id),
        failed: error => events.memberCliqueCreateFailed(id, error),
      },
    }
  })
}

/**
 * The patches of existing members. With OnDelete they follow the template at once, and their pods when a user deletes
 * them.
 */
export function memberPatches({ set, group }: GroupInput, members: readonly Member[]): Patch[] {
  return members.flatMap(({ clique, instance }) =>
    isOnDelete(set) ? templatePatch(set, group, clique, instance) : labelRepair(set, clique, instance),
  )
}

function templatePatch(
  set: StoredSet,
  group: StoredScalingGroup,
  clique: StoredClique,
  member: CliqueInstance,
): Patch[] {
  const merge = patchClique(clique, memberClique(set, group, member))
  const id = keyOf(clique)
  if (!merge) return []
  return [
    {
      kind: 'patch',
      resource: resources.podCliques,
      object: clique,
      merge,
      error: groupErrors.updateMember(id),
      report: {
        about: group,
        source: eventSource.podCliqueScalingGroup,
        done: () => events.cliqueApplied(id),
        failed: error => events.memberCliqueApplyFailed(id, error),
      },
    },
  ]
}

/** Repairs the labels by which a member is found. The labels of its template stay. */
function labelRepair(set: StoredSet, clique: StoredClique, member: CliqueInstance): Patch[] {
  const { [label.podTemplateHash]: _, ...wanted } = cliqueLabels(set, member, '')
  const wrong = Object.entries(wanted).filter(([key, value]) => clique.metadata.labels?.[key] !== value)
  if (wrong.length === 0) return []
  const merge = { metadata: { labels: Object.fromEntries(wrong) } }
  const error = groupErrors.labelMember(keyOf(clique))
  return [{ kind: 'patch', resource: resources.podCliques, object: clique, merge, error }]
}

/** Rewrites hash labels of another operator, in the order of the writes. */
export function relabels({ set, podsOf }: GroupSnapshot, members: readonly Member[]): Intent[][] {
  const cliques = members.map(({ clique }) => clique).filter(clique => isToBeRelabelled(set, clique))
  if (cliques.length === 0) return []
  return [
    cliques.flatMap(clique => podRelabels(set, clique, podsOf(clique))),
    cliques.map(clique => cliqueRelabel(set, clique)),
  ]
}

/**
 * The status without replicas that the operator itself is about to delete. Written before the deletion, so that the
 * next status does not report AllScheduledReplicasLost, whichever operator writes it. Only a count of zero is read as
 * a loss.
 */
export function plannedLoss({ group, cliques }: GroupSnapshot, replicas: readonly number[]): Intent[] {
  const { status } = group
  if (replicas.length === 0 || !status?.scheduledReplicas) return []
  if (scheduledWithout(group, cliques, replicas) > 0) return []
  return [writeStatusOf(group, { ...status, scheduledReplicas: 0 })]
}

/** The replicas that get no new cliques, because the update deletes their outdated ones first. */
export function heldReplicas({ set, group }: GroupSnapshot, update: GroupUpdate): ReadonlySet<number> {
  return mayReplaceReplicas(set, group) ? replicasToRecreate(update) : new Set()
}

/** The next step of the group's update. The status names a serving replica before the replica is deleted. */
export function replacement(
  { set, group, cliques }: GroupSnapshot,
  update: GroupUpdate,
): { status: Intent[]; replicas: readonly number[] } {
  if (!mayReplaceReplicas(set, group)) return { status: [], replicas: [] }
  const replicas = replicasToDelete(update)
  const status = statusWithSelection(group, update)
  if (!status) return { status: [], replicas }
  const scheduledReplicas = Math.min(status.scheduledReplicas, scheduledWithout(group, cliques, replicas))
  return { status: [writeStatusOf(group, { ...status, scheduledReplicas })], replicas }
}

function writeStatusOf(object: StoredScalingGroup, status: unknown): Intent {
  return { kind: 'writeStatus', resource: resources.podCliqueScalingGroups, object, status }
}

function memberClique(set: StoredSet, group: StoredScalingGroup, member: CliqueInstance): PodClique {
  return podClique(set, member, group, revisionOf(set).templateHashes[member.template.name] ?? '')
}

/** The part of a snapshot that determines the status. Gang termination plans it for pods that it has listed itself. */
export type StatusSnapshot = Pick<GroupSnapshot, 'set' | 'group' | 'configuration'> & {
  readonly cliques: readonly PodClique[]
}

export function planStatus(snapshot: StatusSnapshot, update: GroupUpdate, now: number): GroupStatusPlan {
  const { set, group, cliques, configuration } = snapshot
  return planGroupStatus({
    set: set.metadata.name,
    group: withGroupProgress(group, update),
    cliques,
    revision: revisionOf(set),
    onTotalLoss: configuration.gangTermination.onTotalLoss,
    isLeaving: (setReplicaOf(group) ?? 0) >= replicaCount(set),
    update: update.condition,
    paused: isPaused(set),
    now: timestampAt(now),
  })
}

/**
 * The report of a reconcile. Undefined while the operator deletes the replica of the set: its members disappear on
 * purpose.
 */
export function statusReport(
  snapshot: GroupSnapshot,
  planUpdate: UpdatePlanner,
  failure: unknown,
  now: number,
): ChildReport<PodCliqueScalingGroupStatus> | undefined {
  if (failure === undefined && snapshot.isBeingRemoved) return undefined
  const update = planUpdate(snapshot)
  return {
    plan: planStatus(snapshot, update, now),
    isUrgent: status => isUpdating(snapshot.set) || isAwaited(snapshot.group, status),
    retryInMs: update.retryInMs,
  }
}
