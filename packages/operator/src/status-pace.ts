// SPDX-License-Identifier: Apache-2.0

import type { Clock } from '@grove/kube'

/** How often a status that nobody waits for is written. A thousand pods that start at once change it a thousand times. */
export const statusEveryMs = 500
/** All statuses that nobody waits for are written this far apart: while hundreds of cliques start, that comes first. */
export const statusesApartMs = 50
/** However many they are, none waits longer than this. */
export const longestStatusWaitMs = 10_000

/** Lets statuses be written at a calm pace: what somebody waits for at once, the rest together. */
export class StatusPace {
  readonly #clock: Clock
  /** UID → when it was last written; monotonic. */
  readonly #last = new Map<string, number>()
  /** UID → when its turn comes; monotonic. */
  readonly #turns = new Map<string, number>()
  #lastTurn = Number.NEGATIVE_INFINITY

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** How long a write that does not urge has to wait; 0 when it may go now. */
  waitMs(uid: string): number {
    const now = this.#clock.monotonic()
    let turn = this.#turns.get(uid)
    if (turn === undefined) {
      const own = (this.#last.get(uid) ?? now) + statusEveryMs
      turn = Math.max(own, Math.min(this.#lastTurn + statusesApartMs, now + longestStatusWaitMs))
      this.#lastTurn = Math.max(this.#lastTurn, turn)
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
}
