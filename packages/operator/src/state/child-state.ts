// SPDX-License-Identifier: Apache-2.0

// Predicates over the stored state of PodCliques, PodCliqueScalingGroups and PodGangs.
import { conditionType, type PodClique, type PodCliqueScalingGroup, type PodGang } from '@grove/api'

export function isUpdating(clique: PodClique): boolean {
  const progress = clique.status?.updateProgress
  return progress !== undefined && progress.updateEndedAt === undefined
}

export function isUpdatingGroup(group: PodCliqueScalingGroup): boolean {
  const progress = group.status?.updateProgress
  return progress !== undefined && progress.updateEndedAt === undefined
}

export function hasEnoughReady(clique: PodClique): boolean {
  return (clique.status?.readyReplicas ?? 0) >= (clique.spec.minAvailable ?? clique.spec.replicas)
}

export function hasEnoughAvailable(group: PodCliqueScalingGroup): boolean {
  return (group.status?.availableReplicas ?? 0) >= (group.spec.minAvailable ?? 1)
}

export function isInitialized(gang: PodGang): boolean {
  return (gang.status?.conditions ?? []).some(
    condition => condition.type === conditionType.podGangInitialized && condition.status === 'True',
  )
}
