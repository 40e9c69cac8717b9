// SPDX-License-Identifier: Apache-2.0

import type { Clock } from '@grove/kube'
import { statusDebounceMs } from '../timings/timings.ts'

/**
 * Coalesces status writes per object. The first change starts the delay; later changes do not extend it.
 *
 * Not promised: that a write happens. The caller requeues the object for the time that `delayMs` returns.
 */
export class StatusDebounce {
  readonly #clock: Clock
  /** UID → when the pending status is written; monotonic. Entries exist only while a status is pending. */
  readonly #dueAt = new Map<string, number>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Returns how long the pending status of the object still has to wait; 0 if it is to be written now. */
  delayMs(uid: string): number {
    const now = this.#clock.monotonic()
    const dueAt = this.#dueAt.get(uid) ?? now + statusDebounceMs
    this.#dueAt.set(uid, dueAt)
    return Math.max(0, dueAt - now)
  }

  /** Ends the delay: the status was written, equals the stored one again, or the object is gone. */
  clear(uid: string): void {
    this.#dueAt.delete(uid)
  }

  get size(): number {
    return this.#dueAt.size
  }
}
