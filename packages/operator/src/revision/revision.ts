// SPDX-License-Identifier: Apache-2.0

import { label, type PodClique } from '@grove/api'

/** The revision that a set wants now. */
export interface Revision {
  /** Undefined before the set's first reconcile. */
  readonly generationHash: string | undefined
  /** The template hash that a clique of the set should carry. */
  hashOf(clique: PodClique): string
  /**
   * Reports whether a hash of a clique or of its pods names the wanted template. Another operator, or another version
   * of this one, may have written it.
   */
  isCurrent(clique: PodClique, stored: string): boolean
  /** Reports whether an earlier release of this operator stored that hash for the generation that is wanted now. */
  isFormerName?(stored: string): boolean
}

/** Reports whether a child's status says that it has reached the wanted generation. */
export function hasReachedGeneration(
  stored: string | undefined,
  { generationHash, isFormerName }: Revision,
): boolean {
  if (generationHash === undefined || stored === undefined) return false
  return stored === generationHash || isFormerName?.(stored) === true
}

/** The name of the template that a clique was last written from. */
export function templateHashOfClique(clique: PodClique): string {
  return clique.metadata.labels?.[label.podTemplateHash] ?? ''
}

/** Everything about the clique is of the wanted revision, and enough of it is ready. */
export function isConverged(clique: PodClique, revision: Revision): boolean {
  const minAvailable = clique.spec.minAvailable ?? clique.spec.replicas
  const { status } = clique
  return (
    status !== undefined &&
    hasReachedGeneration(status.currentPodCliqueSetGenerationHash, revision) &&
    revision.isCurrent(clique, templateHashOfClique(clique)) &&
    revision.isCurrent(clique, status.currentPodTemplateHash ?? '') &&
    status.updatedReplicas >= minAvailable &&
    status.readyReplicas >= minAvailable
  )
}
