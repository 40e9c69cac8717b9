// SPDX-License-Identifier: Apache-2.0

import type { RunningOperator } from '@grove/operator'
import { untilStill } from './still.ts'

/** Counts the objects that the operator reads from its caches, in all or while something happens. */
export class Looks {
  #seen = 0
  #cliques = 0

  constructor({ caches: { pods, cliques } }: RunningOperator) {
    const byIndex = pods.byIndex.bind(pods)
    pods.byIndex = (...args) => {
      const found = byIndex(...args)
      this.#seen += found.length
      return found
    }
    const cliquesByIndex = cliques.byIndex.bind(cliques)
    cliques.byIndex = (...args) => {
      const found = cliquesByIndex(...args)
      this.#cliques += found.length
      return found
    }
    const getClique = cliques.get.bind(cliques)
    cliques.get = ref => {
      this.#cliques++
      return getClique(ref)
    }
  }

  /** Number of cliques that were read by name or from an index. */
  get cliques(): number {
    return this.#cliques
  }

  /** Waits until the operator has read no pod for that long. */
  untilStill(forMs: number): Promise<void> {
    return untilStill(() => this.#seen, forMs)
  }

  async during(act: () => Promise<unknown>): Promise<number> {
    const before = this.#seen
    await act()
    return this.#seen - before
  }
}
