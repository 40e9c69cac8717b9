// SPDX-License-Identifier: Apache-2.0

// The state of one replica of a set, computed from its children. The status of the set counts it, and the update
// selects replicas by it. Statuses of children may be older than the last change of the template, so only the pods
// themselves prove that none of them is outdated.
import { conditionType, type LackingChild, type PodClique, type PodCliqueScalingGroup } from '@grove/api'
import {
  minAvailableOfClique,
  minAvailableOfGroup,
  scalingGroups,
  standaloneCliques,
} from '../layout/layout.ts'
import type { StoredSet } from '../layout/stored.ts'
import { hasReachedGeneration, isConverged, type Revision } from '../revision/revision.ts'
import { hasEnoughAvailable, hasEnoughReady, isUpdating } from '../state/child-state.ts'
import { findCondition } from '../state/conditions.ts'
import { hasReachedRevision, hasWantedTemplate, isFullyScheduled } from './clique-state.ts'

/** Children of a set that it controls and that are not terminating. */
export interface ReplicaChildren {
  cliqueNamed(name: string): PodClique | undefined
  groupNamed(name: string): PodCliqueScalingGroup | undefined
  /** Member cliques of a scaling group. */
  membersOf(group: PodCliqueScalingGroup): readonly PodClique[]
  /** Reports whether a clique has pods with another template than its own. */
  hasOutdatedPods(clique: PodClique): boolean
}

/** The state of a replica that the status of the set counts. */
export interface ReplicaState {
  readonly replica: number
  /** Reports whether any child of the replica exists. */
  readonly exists: boolean
  readonly isAvailable: boolean
  /** The first child that is not available; undefined if all are, or if the replica does not exist. */
  lacks(): LackingChild | undefined
  /** Available, and every child has the newest revision. */
  readonly isUpdated: boolean
  readonly updatedCliques: number
  readonly updatedGroups: number
  /** Computed on demand, because it reads pods and is needed only during an update. */
  update(): ReplicaUpdateState
}

/** The state of a replica that an update depends on. */
export interface ReplicaUpdateState {
  readonly replica: number
  /** Up to date, and every updated child serves again. */
  readonly isDone: boolean
  /** No child and no pod has an earlier revision, ready or not. */
  readonly isUpToDate: boolean
  readonly isAvailable: boolean
  /** As available as its number of pods allows: a clique may be scaled below minAvailable. */
  readonly isServing: boolean
  /** Every pod is scheduled. */
  readonly isScheduled: boolean
  readonly scheduledPods: number
  /** Reports whether a clique or a pod has to be replaced. Reads all pods of the replica. */
  isOutdated(): boolean
  /** The reason why the replica waits; undefined if its update is done. */
  readonly waitsFor: string | undefined
}

export function replicaState(
  set: StoredSet,
  replica: number,
  revision: Revision,
  children: ReplicaChildren,
): ReplicaState {
  const cliques = standaloneCliques(set, replica).map(({ name }) => ({
    name,
    clique: children.cliqueNamed(name),
  }))
  const groups = scalingGroups(set, replica).map(({ name }) => ({ name, group: children.groupNamed(name) }))
  const isAvailable =
    cliques.every(({ clique }) => clique && hasEnoughReady(clique)) &&
    groups.every(({ group }) => group && hasEnoughAvailable(group))
  const updatedCliques = cliques.filter(({ clique }) => clique && isConverged(clique, revision)).length
  const updatedGroups = groups.filter(({ group }) => group && hasReached(group, revision)).length
  const update = () => {
    const parts = [
      ...cliques.map(({ name, clique }) =>
        clique ? cliquePart(clique, revision, children) : missing('PodClique', name),
      ),
      ...groups.map(({ name, group }) =>
        group ? groupPart(group, revision, children) : missing('PodCliqueScalingGroup', name),
      ),
    ]
    return combined(replica, isAvailable, parts, clique => isOutdated(clique, revision, children))
  }
  let known: ReplicaUpdateState | undefined
  const exists = cliques.some(({ clique }) => clique) || groups.some(({ group }) => group)
  return {
    replica,
    exists,
    isAvailable,
    lacks: () => (exists ? firstLacking(cliques, groups) : undefined),
    isUpdated: isAvailable && updatedCliques === cliques.length && updatedGroups === groups.length,
    updatedCliques,
    updatedGroups,
    update: () => {
      known ??= update()
      return known
    },
  }
}

function firstLacking(
  cliques: readonly { readonly name: string; readonly clique: PodClique | undefined }[],
  groups: readonly { readonly name: string; readonly group: PodCliqueScalingGroup | undefined }[],
): LackingChild | undefined {
  const missing = 'does not exist yet'
  for (const { name, clique } of cliques)
    if (!clique || !hasEnoughReady(clique))
      return {
        kind: 'PodClique',
        name,
        // Omits the number of ready pods: otherwise the set would be written for each of them.
        lacks: clique
          ? `has fewer ready pods than its minAvailable (${minAvailableOfClique(clique)})`
          : missing,
      }
  for (const { name, group } of groups)
    if (!group || !hasEnoughAvailable(group))
      return {
        kind: 'PodCliqueScalingGroup',
        name,
        lacks: group
          ? `has fewer available replicas than its minAvailable (${minAvailableOfGroup(group.spec)})`
          : missing,
      }
  return undefined
}

function hasReached({ status }: PodCliqueScalingGroup, revision: Revision): boolean {
  return hasReachedGeneration(status?.currentPodCliqueSetGenerationHash, revision)
}

/** A standalone clique or a scaling group of a replica. */
interface Part {
  readonly isUpToDate: boolean
  readonly isUpdating: boolean
  readonly isServing: boolean
  readonly isScheduled: boolean
  readonly scheduledPods: number
  readonly cliques: readonly PodClique[]
  readonly waitsFor: string
}

function combined(
  replica: number,
  isAvailable: boolean,
  parts: readonly Part[],
  isOutdatedClique: (clique: PodClique) => boolean,
): ReplicaUpdateState {
  const unfinished = parts.find(part => !part.isUpToDate || !part.isServing || part.isUpdating)
  return {
    replica,
    isDone: unfinished === undefined,
    isUpToDate: parts.every(part => part.isUpToDate),
    isAvailable,
    isServing: parts.every(part => part.isServing),
    isScheduled: parts.every(part => part.isScheduled),
    scheduledPods: parts.reduce((sum, { scheduledPods }) => sum + scheduledPods, 0),
    isOutdated: () => parts.some(part => part.cliques.some(isOutdatedClique)),
    waitsFor: unfinished?.waitsFor,
  }
}

function missing(kind: string, name: string): Part {
  return {
    isUpToDate: false,
    isUpdating: false,
    isServing: false,
    isScheduled: false,
    scheduledPods: 0,
    cliques: [],
    waitsFor: `${kind} ${name} does not exist yet`,
  }
}

function cliquePart(clique: PodClique, revision: Revision, children: ReplicaChildren): Part {
  const { metadata, spec, status } = clique
  const ready = status?.readyReplicas ?? 0
  const updated = status?.updatedReplicas ?? 0
  return {
    isUpToDate: isUpToDate(clique, revision, children),
    isUpdating: isUpdating(clique),
    isServing: ready >= Math.min(minAvailableOfClique(clique), spec.replicas),
    isScheduled: isFullyScheduled(clique),
    scheduledPods: status?.scheduledReplicas ?? 0,
    cliques: [clique],
    waitsFor: described(
      `PodClique ${metadata.name}`,
      status,
      `${updated} of ${spec.replicas} pods are updated, ${ready} ready`,
    ),
  }
}

function groupPart(group: PodCliqueScalingGroup, revision: Revision, children: ReplicaChildren): Part {
  const { metadata, spec, status } = group
  const available = status?.availableReplicas ?? 0
  const scheduled = status?.scheduledReplicas ?? 0
  const updated = status?.updatedReplicas ?? 0
  const cliques = children.membersOf(group)
  return {
    isUpToDate:
      hasReached(group, revision) && cliques.every(clique => isUpToDate(clique, revision, children)),
    isUpdating: isUpdating(group),
    isServing: available >= Math.min(minAvailableOfGroup(spec), spec.replicas),
    isScheduled: scheduled >= spec.replicas && cliques.every(isFullyScheduled),
    scheduledPods: scheduled,
    cliques,
    waitsFor: described(
      `PodCliqueScalingGroup ${metadata.name}`,
      status,
      `${updated} of ${spec.replicas} replicas are updated, ${available} available`,
    ),
  }
}

function isUpToDate(clique: PodClique, revision: Revision, { hasOutdatedPods }: ReplicaChildren): boolean {
  return hasReachedRevision(clique, revision) && !hasOutdatedPods(clique)
}

function isOutdated(clique: PodClique, revision: Revision, { hasOutdatedPods }: ReplicaChildren): boolean {
  return !hasWantedTemplate(clique, revision) || hasOutdatedPods(clique)
}

/** The message of the child's own condition, or else its counts. */
function described(
  child: string,
  status: PodClique['status'] | PodCliqueScalingGroup['status'],
  counts: string,
): string {
  const condition = findCondition(status?.conditions, conditionType.updateProgressing)
  return `${child}: ${condition?.message ?? counts}`
}
