// SPDX-License-Identifier: Apache-2.0

// How far one replica of a set is on its way to the newest revision, as its children tell it. What is counted
// in their statuses may be older than the last change of the template; that nothing outdated is left is seen
// in the objects.
import type { PodClique, PodCliqueScalingGroup } from '@grove/api'
import { scalingGroups, standaloneCliques } from '../layout/layout.ts'
import type { StoredSet } from '../layout/stored.ts'
import { hasReachedGeneration, templateHashOfClique } from '../revision/revision.ts'
import type { SetRevision } from '../revision/set-revision.ts'
import { hasEnoughAvailable, hasEnoughReady, isUpdating, isUpdatingGroup } from '../state/child-state.ts'
import { findCondition } from '../state/conditions.ts'

export interface ReplicaUpdateInput {
  readonly set: StoredSet
  readonly revision: SetRevision
  cliqueNamed(name: string): PodClique | undefined
  groupNamed(name: string): PodCliqueScalingGroup | undefined
  /** Live member cliques of a scaling group. */
  membersOf(group: PodCliqueScalingGroup): readonly PodClique[]
  /** Whether a clique has pods that are not of the template that it was last written with. */
  hasOutdatedPods(clique: PodClique): boolean
}

export interface ReplicaUpdateState {
  readonly replica: number
  /** Everything is of the newest revision, and what was replaced serves again. */
  readonly isDone: boolean
  /** Nothing outdated is left, whether it serves or not. */
  readonly isUpToDate: boolean
  readonly isAvailable: boolean
  /** As available as it can be with what it was scaled to. */
  readonly isServing: boolean
  /** Every pod that it wants has a place. */
  readonly isPlaced: boolean
  readonly scheduledPods: number
  /** Whether something of it is to be replaced, by the objects themselves. */
  isOutdated(): boolean
  /** What the replica waits for; undefined when it is done. */
  readonly waitsFor: string | undefined
}

export function assessReplica(input: ReplicaUpdateInput, replica: number): ReplicaUpdateState {
  const parts = [
    ...standaloneCliques(input.set, replica).map(({ name }) =>
      cliquePart(input, name, input.cliqueNamed(name)),
    ),
    ...scalingGroups(input.set, replica).map(({ name }) => groupPart(input, name, input.groupNamed(name))),
  ]
  return {
    replica,
    isDone: parts.every(part => part.isUpToDate && part.serves),
    isUpToDate: parts.every(part => part.isUpToDate),
    isAvailable: parts.every(part => part.isAvailable),
    isServing: parts.every(part => part.hasEnough),
    isPlaced: parts.every(part => part.isPlaced),
    scheduledPods: parts.reduce((sum, { scheduled }) => sum + scheduled, 0),
    isOutdated: () => parts.some(part => part.cliques.some(clique => isOutdated(input, clique))),
    waitsFor: parts.find(part => !part.isUpToDate || !part.serves)?.text,
  }
}

interface Part {
  readonly isUpToDate: boolean
  readonly serves: boolean
  readonly hasEnough: boolean
  readonly isPlaced: boolean
  readonly isAvailable: boolean
  readonly cliques: readonly PodClique[]
  readonly scheduled: number
  readonly text: string
}

const missing = (kind: string, name: string): Part => ({
  isUpToDate: false,
  serves: false,
  hasEnough: false,
  isPlaced: false,
  isAvailable: false,
  cliques: [],
  scheduled: 0,
  text: `${kind} ${name} is to be made`,
})

function cliquePart(input: ReplicaUpdateInput, name: string, clique: PodClique | undefined): Part {
  if (!clique) return missing('PodClique', name)
  const { spec, status } = clique
  const ready = status?.readyReplicas ?? 0
  // Scaled below its minimum it cannot have more than all of its pods.
  const hasEnough = ready >= Math.min(spec.minAvailable ?? spec.replicas, spec.replicas)
  return {
    isUpToDate: isCliqueUpToDate(input, clique),
    serves: hasEnough && !isUpdating(clique),
    hasEnough,
    isPlaced: isPlaced(clique),
    isAvailable: hasEnoughReady(clique),
    cliques: [clique],
    scheduled: status?.scheduledReplicas ?? 0,
    text:
      own(`PodClique ${name}`, status) ??
      `PodClique ${name}: ${status?.updatedReplicas ?? 0} of ${spec.replicas} pods are updated, ${ready} ready`,
  }
}

function isCliqueUpToDate({ revision, hasOutdatedPods }: ReplicaUpdateInput, clique: PodClique): boolean {
  return (
    revision.isCurrent(clique, templateHashOfClique(clique)) &&
    revision.isCurrent(clique, clique.status?.currentPodTemplateHash ?? '') &&
    hasReachedGeneration(clique.status?.currentPodCliqueSetGenerationHash, revision) &&
    !hasOutdatedPods(clique)
  )
}

function isOutdated({ revision, hasOutdatedPods }: ReplicaUpdateInput, clique: PodClique): boolean {
  return !revision.isCurrent(clique, templateHashOfClique(clique)) || hasOutdatedPods(clique)
}

function isPlaced({ spec, status }: PodClique): boolean {
  return (status?.scheduledReplicas ?? 0) >= spec.replicas
}

function groupPart(input: ReplicaUpdateInput, name: string, group: PodCliqueScalingGroup | undefined): Part {
  if (!group) return missing('PodCliqueScalingGroup', name)
  const { spec, status } = group
  const available = status?.availableReplicas ?? 0
  const cliques = input.membersOf(group)
  const hasEnough = available >= Math.min(spec.minAvailable ?? 1, spec.replicas)
  return {
    isUpToDate:
      hasReachedGeneration(status?.currentPodCliqueSetGenerationHash, input.revision) &&
      cliques.every(clique => isCliqueUpToDate(input, clique)),
    serves: hasEnough && !isUpdatingGroup(group),
    hasEnough,
    isPlaced: (status?.scheduledReplicas ?? 0) >= spec.replicas && cliques.every(isPlaced),
    isAvailable: hasEnoughAvailable(group),
    cliques,
    scheduled: status?.scheduledReplicas ?? 0,
    text:
      own(`PodCliqueScalingGroup ${name}`, status) ??
      `PodCliqueScalingGroup ${name}: ${status?.updatedReplicas ?? 0} of ${spec.replicas} replicas are updated, ${available} available`,
  }
}

/** What the part says itself. */
function own(
  what: string,
  status: PodClique['status'] | PodCliqueScalingGroup['status'],
): string | undefined {
  const condition = findCondition(status?.conditions, 'UpdateProgressing')
  return condition && `${what}: ${condition.message}`
}
