// SPDX-License-Identifier: Apache-2.0

import type { Pod, PodClique } from '@grove/api'
import { type Revision, templateHashOfClique } from '../revision/revision.ts'
import { isActive, templateHashOf } from '../state/pod-state.ts'
import { hasWantedTemplate } from './clique-state.ts'

/**
 * Distinguishes hashes of the clique's template from others. The template of a clique is the one that its parent wrote
 * last. While that is not the wanted one, pods are compared with the template in the clique.
 */
export function currentHash(revision: Revision, clique: PodClique): (hash: string) => boolean {
  const own = templateHashOfClique(clique)
  if (!hasWantedTemplate(clique, revision)) return hash => hash === own
  return hash => hash === own || revision.isCurrent(clique, hash)
}

export function hasOutdatedPods(revision: Revision, clique: PodClique, pods: readonly Pod[]): boolean {
  const isCurrent = currentHash(revision, clique)
  return pods.some(pod => isActive(pod) && !isCurrent(templateHashOf(pod) ?? ''))
}
