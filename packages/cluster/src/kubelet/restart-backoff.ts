// SPDX-License-Identifier: Apache-2.0

/** The first restart is immediate. The next ones wait 10 s, 20 s, … up to five minutes. */
const firstBackoffMs = 10_000
const longestBackoffMs = 300_000
/** The backoff is reset after a container ran this long. */
const resetAfterMs = 2 * longestBackoffMs

/** The exponential backoff of restarts of one container. */
export class RestartBackoff {
  #next = 0
  #startedAt = 0

  /** Returns the delay after an exit at this time; 0 for an immediate restart. */
  waitAfterEnd(now: number): number {
    if (now - this.#startedAt > resetAfterMs) this.#next = 0
    return this.#next
  }

  restarted(now: number): void {
    this.#startedAt = now
    this.#next = Math.min(longestBackoffMs, this.#next === 0 ? firstBackoffMs : this.#next * 2)
  }
}

/** Formats a duration like the kubelet: `10s`, `1m20s`, `5m0s`. */
export function backoffText(ms: number): string {
  const seconds = Math.round(ms / 1_000)
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`
}
