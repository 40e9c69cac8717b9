// SPDX-License-Identifier: Apache-2.0

import type { Clock } from '@grove/kube'

/** How often a status that nobody waits for is written. A thousand pods that start at once change it a thousand times. */
export const statusEveryMs = 500
/** Statuses that wait while only a few do are written this far apart. */
export const statusesApartMs = 50
/** So many are few. While hundreds of cliques start, that comes first, and soon there is more to say of each. */
export const fewStatuses = 20
export const manyStatusesApartMs = 250
/** However many they are, none waits longer than this. */
export const longestStatusWaitMs = 30_000

/** Lets statuses be written at a calm pace: what somebody waits for at once, the rest together. */
export class StatusPace {
  readonly #clock: Clock
  /** UID → when it was last written; monotonic. */
  readonly #last = new Map<string, number>()
  /** UID → when its turn comes; monotonic. */
  readonly #turns = new Map<string, number>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** How long a write that does not urge has to wait; 0 when it may go now. */
  waitMs(uid: string): number {
    const now = this.#clock.monotonic()
    let turn = this.#turns.get(uid)
    if (turn === undefined) {
      const own = (this.#last.get(uid) ?? now) + statusEveryMs
      turn = Math.max(own, now + Math.min(longestStatusWaitMs, this.#behindOthersMs()))
      this.#turns.set(uid, turn)
    }
    return Math.max(0, turn - now)
  }

  wrote(uid: string): void {
    this.#turns.delete(uid)
    this.#last.set(uid, this.#clock.monotonic())
  }

  forget(uid: string): void {
    this.#turns.delete(uid)
    this.#last.delete(uid)
  }

  #behindOthersMs(): number {
    const others = this.#turns.size
    if (others === 0) return 0
    const few = Math.min(others, fewStatuses)
    return statusEveryMs + few * statusesApartMs + (others - few) * manyStatusesApartMs
  }
}
