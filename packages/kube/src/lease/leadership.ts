// SPDX-License-Identifier: Apache-2.0

// Decides whether this process may write. Promised: `isHeld()` is true for at most one process at a time, under any
// pause, delay or partition. This holds as long as clocks *run* at nearly the same rate; their absolute time is
// irrelevant. The result is computed on each call, from the time since the last successful renewal was *sent*. Not
// promised: that a request which was sent while the lease was held arrives before the next leader's first one.
// Between the two lies `leaseDuration − renewDeadline`.
import type { Clock } from '../clock/index.ts'

export class LeadershipLost extends Error {
  override readonly name = 'LeadershipLost'
}

export interface Leadership {
  readonly identity: string
  /** Call it just before every write, not earlier: a process may be paused between any two lines. */
  isHeld(): boolean
  /** Throws LeadershipLost unless held. */
  assertHeld(): void
  /** Aborted when leadership is lost or given up. It may come late in a paused process; isHeld does not. */
  readonly signal: AbortSignal
}

/** The elector's side, which receives successful renewals. */
export class LeadershipFence implements Leadership {
  readonly identity: string
  readonly #clock: Clock
  readonly #renewDeadlineMs: number
  readonly #lost = new AbortController()
  /** When the last successful renewal was sent, on both clocks. */
  #renewed: { readonly monotonic: number; readonly wall: number } | undefined

  constructor(identity: string, clock: Clock, renewDeadlineMs: number) {
    this.identity = identity
    this.#clock = clock
    this.#renewDeadlineMs = renewDeadlineMs
  }

  get signal(): AbortSignal {
    return this.#lost.signal
  }

  isHeld(): boolean {
    return this.remainingMs() > 0
  }

  assertHeld(): void {
    if (this.isHeld()) return
    throw new LeadershipLost(`${this.identity} is not the leader: ${this.#whyNotHeld()}`)
  }

  #whyNotHeld(): string {
    if (this.#lost.signal.aborted) return (this.#lost.signal.reason as Error).message
    return this.#renewed ? 'the lease was not renewed in time' : 'the lease was never held'
  }

  /**
   * Remaining time without another renewal. Also uses the wall clock, because the monotonic one stops while a machine
   * is suspended. If the wall clock is set forward, leadership is not held until the next renewal.
   */
  remainingMs(): number {
    if (!this.#renewed || this.#lost.signal.aborted) return 0
    const passed = Math.max(
      this.#clock.monotonic() - this.#renewed.monotonic,
      this.#clock.now() - this.#renewed.wall,
    )
    return this.#renewDeadlineMs - passed
  }

  /** The same on the monotonic clock alone: when to give up for good. */
  monotonicRemainingMs(): number {
    if (!this.#renewed) return 0
    return this.#renewDeadlineMs - (this.#clock.monotonic() - this.#renewed.monotonic)
  }

  /** A renewal that was sent at these times has succeeded. */
  renewed(sent: { readonly monotonic: number; readonly wall: number }): void {
    if (!this.#lost.signal.aborted) this.#renewed = sent
  }

  lose(why: string): void {
    if (!this.#lost.signal.aborted) this.#lost.abort(new LeadershipLost(why))
  }
}

/** For a process without election: it always leads. */
export function unelected(identity = 'unelected'): Leadership {
  return { identity, isHeld: () => true, assertHeld: () => {}, signal: new AbortController().signal }
}
