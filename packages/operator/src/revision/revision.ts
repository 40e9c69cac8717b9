// SPDX-License-Identifier: Apache-2.0

import { label, type PodClique } from '@grove/api'
import { minAvailableOfClique } from '../layout/layout.ts'

/** The revision that a set wants now. */
export interface Revision {
  /** Undefined before the set's first reconcile. */
  readonly generationHash: string | undefined
  /** The template hash that a clique of the set should carry. */
  hashOf(clique: PodClique): string
  /**
   * Reports whether a hash of a clique or of its pods stands for the wanted template. Another operator, or another
   * version of this one, may have written the hash.
   */
  isCurrent(clique: PodClique, stored: string): boolean
  /** Reports whether an earlier release of this operator stored this hash for the wanted generation. */
  isFormerName?(stored: string): boolean
}

/** Reports whether a child's status shows that it has reached the wanted generation. */
export function hasReachedGeneration(
  stored: string | undefined,
  { generationHash, isFormerName }: Revision,
): boolean {
  if (generationHash === undefined || stored === undefined) return false
  return stored === generationHash || isFormerName?.(stored) === true
}

/** The hash of the template with which a clique was last written. */
export function templateHashOfClique(clique: PodClique): string {
  return clique.metadata.labels?.[label.podTemplateHash] ?? ''
}

/** The whole clique has the wanted revision, and minAvailable pods are ready. */
export function isConverged(clique: PodClique, revision: Revision): boolean {
  const minAvailable = minAvailableOfClique(clique)
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
