// SPDX-License-Identifier: Apache-2.0

// Which cliques have pods that are not of their template. While a set is updated it is asked of all of them on every
// pass; the pods of a clique are looked at again only when one of them changed.
import type { PodClique } from '@grove/api'
import type { Caches } from '../caches/caches.ts'
import type { StoredSet } from '../layout/stored.ts'
import { templateHashOfClique } from '../revision/revision.ts'
import { revisionOf, type SetRevision } from '../revision/set-revision.ts'
import { hasOutdatedPods } from '../update/outdated-pods.ts'

interface Answer {
  readonly revision: SetRevision
  readonly template: string
  readonly hasOutdated: boolean
}

export class OutdatedCliques {
  readonly #caches: Caches
  /** By UID of the clique. */
  readonly #answers = new Map<string, Answer>()

  constructor(caches: Caches) {
    this.#caches = caches
    caches.pods.onChange(change => {
      for (const { uid } of (change.new ?? change.old).metadata.ownerReferences ?? [])
        this.#answers.delete(uid)
    })
    caches.cliques.onChange(change => {
      if (change.type === 'delete') this.#answers.delete(change.old.metadata.uid)
    })
  }

  has(set: StoredSet, clique: PodClique): boolean {
    const uid = clique.metadata.uid ?? ''
    const revision = revisionOf(set)
    const template = templateHashOfClique(clique)
    const known = this.#answers.get(uid)
    if (known?.revision === revision && known.template === template) return known.hasOutdated
    const hasOutdated = hasOutdatedPods(set, clique, this.#caches.podsOf(clique))
    this.#answers.set(uid, { revision, template, hasOutdated })
    return hasOutdated
  }
}
