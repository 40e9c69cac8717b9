// SPDX-License-Identifier: Apache-2.0

import type { RunningOperator } from '@grove/operator'
import type { SkippingClock } from './skipping-clock.ts'
import { untilUnchanged } from './unchanged.ts'

/** Counts the pods that the operator's planners read, in total or during an action. */
export class PodReads {
  #seen = 0

  constructor({ caches: { pods } }: RunningOperator) {
    const byIndex = pods.byIndex.bind(pods)
    pods.byIndex = (...args) => {
      const found = byIndex(...args)
      this.#seen += found.length
      return found
    }
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
