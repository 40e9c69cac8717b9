// SPDX-License-Identifier: Apache-2.0

import type { RunningOperator } from '@grove/operator'
import type { SkippingClock } from './skipping-clock.ts'
import { untilUnchanged } from './unchanged.ts'

/** Counts the pods and cliques that the operator's planners read, in total or during an action. */
export class PodReads {
  #seen = 0
  #cliques = 0

  constructor({ caches: { pods, cliques } }: RunningOperator) {
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
    const byIndex = pods.byIndex.bind(pods)
    pods.byIndex = (...args) => {
      const found = byIndex(...args)
      this.#seen += found.length
      return found
    }
  }

  /** Number of cliques that were read by name or from an index. */
  get cliques(): number {
    return this.#cliques
  }

  /** Waits until the planners have read no pod for this time. */
  untilUnchanged(forMs: number, clock: SkippingClock): Promise<void> {
    return untilUnchanged(() => this.#seen, forMs, clock)
  }

  async during(act: () => Promise<unknown>): Promise<number> {
    const before = this.#seen
    await act()
    return this.#seen - before
  }
}
