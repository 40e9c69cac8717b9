// SPDX-License-Identifier: Apache-2.0

import type { Clock } from '@grove/kube'

/** How often a status that nobody waits for is written. A thousand pods that start at once change it a thousand times. */
export const statusEveryMs = 500

/** Lets statuses be written at a calm pace: what somebody waits for at once, the rest together. */
export class StatusPace {
  readonly #clock: Clock
  /** UID → when it was last written, or first seen; monotonic. */
  readonly #last = new Map<string, number>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** How long a write that does not urge has to wait; 0 when it may go now. */
  waitMs(uid: string): number {
    const now = this.#clock.monotonic()
    const last = this.#last.get(uid)
    if (last === undefined) {
      this.#last.set(uid, now)
      return statusEveryMs
    }
    return Math.max(0, last + statusEveryMs - now)
  }

  wrote(uid: string): void {
    this.#last.set(uid, this.#clock.monotonic())
  }

  forget(uid: string): void {
    this.#last.delete(uid)
  }
}
