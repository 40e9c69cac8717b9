// SPDX-License-Identifier: Apache-2.0

// Facts about one clique that updates and statuses are computed from.
import { conditionType, type PodClique } from '@grove/api'
import { hasReachedGeneration, type Revision, templateHashOfClique } from '../revision/revision.ts'
import { findCondition } from '../state/conditions.ts'

/** Reports whether minAvailable pods are scheduled, by the condition of the clique. */
export function hasEnoughScheduled(clique: PodClique): boolean {
  return findCondition(clique.status?.conditions, conditionType.podCliqueScheduled)?.status === 'True'
}

/** Reports whether every pod of the clique is scheduled. */
export function isFullyScheduled({ spec, status }: PodClique): boolean {
  return (status?.scheduledReplicas ?? 0) >= spec.replicas
}

export function hasWantedTemplate(clique: PodClique, revision: Revision): boolean {
  return revision.isCurrent(clique, templateHashOfClique(clique))
}

/** Reports whether the clique and, by its status, all of its pods have the wanted revision. They need not be ready. */
export function hasReachedRevision(clique: PodClique, revision: Revision): boolean {
  const { currentPodTemplateHash = '', currentPodCliqueSetGenerationHash } = clique.status ?? {}
  return (
    hasWantedTemplate(clique, revision) &&
    revision.isCurrent(clique, currentPodTemplateHash) &&
    hasReachedGeneration(currentPodCliqueSetGenerationHash, revision)
  )
}
