// SPDX-License-Identifier: Apache-2.0

import type { Pod, PodClique } from '@grove/api'
import type { StoredSet } from '../layout/stored.ts'
import { templateHashOfClique } from '../revision/revision.ts'
import { revisionOf } from '../revision/set-revision.ts'
import { isActive, templateHashOf } from '../state/pod-state.ts'

/** Whether a clique is of the wanted template; if not, its pods are measured by what the clique says. */
export function isOfWantedTemplate(set: StoredSet, clique: PodClique): boolean {
  return revisionOf(set).isCurrent(clique, templateHashOfClique(clique))
}

/** The revision of a clique is the one that its parent wrote together with its spec. */
export function currentHash(set: StoredSet, clique: PodClique): (hash: string) => boolean {
  const own = templateHashOfClique(clique)
  if (!isOfWantedTemplate(set, clique)) return hash => hash === own
  return hash => hash === own || revisionOf(set).isCurrent(clique, hash)
}

export function hasOutdatedPods(set: StoredSet, clique: PodClique, pods: readonly Pod[]): boolean {
  const isCurrent = currentHash(set, clique)
  return pods.some(pod => isActive(pod) && !isCurrent(templateHashOf(pod) ?? ''))
}
