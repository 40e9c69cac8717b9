// SPDX-License-Identifier: Apache-2.0

import { label, type PodClique } from '@grove/api'

/** The revision that a set wants now. */
export interface Revision {
  /** Undefined before the set's first pass. */
  readonly generationHash: string | undefined
  /** The template hash that a clique of the set should carry. */
  hashOf(clique: PodClique): string
  /**
   * Whether a hash that is stored in a clique or in its pods names the template that is wanted of the clique: it may
   * have been written by another operator, or by another version of this one.
   */
  isCurrent(clique: PodClique, stored: string): boolean
}

/** The name of the template that a clique was last written from. */
export function templateHashOfClique(clique: PodClique): string {
  return clique.metadata.labels?.[label.podTemplateHash] ?? ''
}

/** Everything about the clique is of the wanted revision, and enough of it is ready. */
export function isConverged(clique: PodClique, { generationHash, isCurrent }: Revision): boolean {
  const minAvailable = clique.spec.minAvailable ?? clique.spec.replicas
  const { status } = clique
  return (
    generationHash !== undefined &&
    status !== undefined &&
    isCurrent(clique, templateHashOfClique(clique)) &&
    isCurrent(clique, status.currentPodTemplateHash ?? '') &&
    status.currentPodCliqueSetGenerationHash === generationHash &&
    status.updatedReplicas >= minAvailable &&
    status.readyReplicas >= minAvailable
  )
}
