// SPDX-License-Identifier: Apache-2.0

import { label, type PodClique } from '@grove/api'

/** The revision that a set wants now. */
export interface Revision {
  /** Undefined before the set's first pass. */
  readonly generationHash: string | undefined
  /** The template hash that a clique of the set should carry. */
  hashOf(clique: PodClique): string
  /** Whether a stored hash names the wanted template: it may have been written by an earlier operator. */
  isCurrent(stored: string, wanted: string): boolean
}

/** Everything about the clique is of the wanted revision, and enough of it is ready. */
export function isConverged(clique: PodClique, { generationHash, hashOf, isCurrent }: Revision): boolean {
  const wanted = hashOf(clique)
  const minAvailable = clique.spec.minAvailable ?? clique.spec.replicas
  const { status } = clique
  return (
    generationHash !== undefined &&
    status !== undefined &&
    isCurrent(clique.metadata.labels?.[label.podTemplateHash] ?? '', wanted) &&
    isCurrent(status.currentPodTemplateHash ?? '', wanted) &&
    status.currentPodCliqueSetGenerationHash === generationHash &&
    status.updatedReplicas >= minAvailable &&
    status.readyReplicas >= minAvailable
  )
}
