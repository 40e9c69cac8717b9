// SPDX-License-Identifier: Apache-2.0

/** The first restart comes at once; then waits of 10 s, 20 s, … up to five minutes. */
const firstBackoffMs = 10_000
const longestBackoffMs = 300_000
/** A container that ran this long is given a new start. */
const forgivenAfterMs = 2 * longestBackoffMs

/** How long to wait with the next restart of a container that keeps ending. */
export class RestartBackoff {
  #next = 0
  #startedAt = 0

  /** The wait after an end at this moment, 0 for none. */
  waitAfterEnd(now: number): number {
    if (now - this.#startedAt > forgivenAfterMs) this.#next = 0
    return this.#next
  }

  restarted(now: number): void {
    this.#startedAt = now
    this.#next = Math.min(longestBackoffMs, this.#next === 0 ? firstBackoffMs : this.#next * 2)
  }
}

/** `10s`, `1m20s`, `5m0s`, as the kubelet writes it. */
export function backoffText(ms: number): string {
  const seconds = Math.round(ms / 1_000)
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`
}
