// SPDX-License-Identifier: Apache-2.0

// Predicates over the stored state of PodCliqueSets and their children.
import { conditionType, type PodClique, type PodCliqueScalingGroup, type PodGang } from '@grove/api'
import { minAvailableOfClique, minAvailableOfGroup } from '../layout/layout.ts'

/** The fields that the update progress of sets, scaling groups and cliques share. */
interface Progress {
  readonly updateEndedAt?: string
}

export function isInProgress(progress: Progress | undefined): boolean {
  return progress !== undefined && progress.updateEndedAt === undefined
}

/** Reports whether a set, a scaling group or a clique is being updated. */
export function isUpdating(object: { readonly status?: { readonly updateProgress?: Progress } }): boolean {
  return isInProgress(object.status?.updateProgress)
}

/** Reports whether minAvailable pods are ready. */
export function hasEnoughReady(clique: PodClique): boolean {
  return (clique.status?.readyReplicas ?? 0) >= minAvailableOfClique(clique)
}

/** Reports whether minAvailable replicas are available. */
export function hasEnoughAvailable(group: PodCliqueScalingGroup): boolean {
  return (group.status?.availableReplicas ?? 0) >= minAvailableOfGroup(group.spec)
}

export function isInitialized(gang: PodGang): boolean {
  return (gang.status?.conditions ?? []).some(
    condition => condition.type === conditionType.podGangInitialized && condition.status === 'True',
  )
}
