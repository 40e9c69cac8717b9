// SPDX-License-Identifier: Apache-2.0

import type { RunningOperator } from '@grove/operator'
import { untilStill } from './still.ts'

/** How many pods the operator's planners were given, in all or while something happens. */
export class Looks {
  #seen = 0

  constructor({ caches: { pods } }: RunningOperator) {
    const byIndex = pods.byIndex.bind(pods)
    pods.byIndex = (...words) => {
      const found = byIndex(...words)
      this.#seen += found.length
      return found
    }
  }

  /** Waits until nobody has looked for so long. */
  untilStill(forMs: number): Promise<void> {
    return untilStill(() => this.#seen, forMs)
  }

  async during(act: () => Promise<unknown>): Promise<number> {
    const before = this.#seen
    await act()
    return this.#seen - before
  }
}
