// SPDX-License-Identifier: Apache-2.0

import type { Parents } from './arguments.ts'
import type { SeenPod } from './pod.ts'

export interface ParentState {
  readonly name: string
  readonly have: number
  readonly need: number
}

/**
 * Counts the ready pods of each parent. Level-based: the result depends only on the last known state of the pods. A
 * pod counts for the parent in its label, and for no other.
 */
export class ParentReadiness {
  readonly #parents: Parents
  /** Ready pods by name, with the parent they count for. */
  readonly #ready = new Map<string, string>()

  constructor(parents: Parents) {
    this.#parents = parents
  }

  /** Replaces all pods by those of a list; others are deleted. */
  replace(pods: Iterable<SeenPod>): void {
    this.#ready.clear()
    for (const pod of pods) this.update(pod)
  }

  update({ name, clique, ready }: SeenPod): void {
    if (ready && clique !== undefined && this.#parents.has(clique)) this.#ready.set(name, clique)
    else this.#ready.delete(name)
  }

  remove(name: string): void {
    this.#ready.delete(name)
  }

  /** Every parent, in the order of the command line. */
  get all(): readonly ParentState[] {
    const have = new Map<string, number>()
    for (const clique of this.#ready.values()) have.set(clique, (have.get(clique) ?? 0) + 1)
    return [...this.#parents].map(([name, need]) => ({ name, have: have.get(name) ?? 0, need }))
  }

  get missing(): readonly ParentState[] {
    return this.all.filter(({ have, need }) => have < need)
  }
}
