// SPDX-License-Identifier: Apache-2.0

// Waits for a condition on a machine of unknown speed.
import { setTimeout as sleep } from 'node:timers/promises'

export interface WaitOptions {
  /** The time-out. It is long, because a failure on a slow machine has no meaning. */
  readonly timeoutMs?: number
  readonly intervalMs?: number
  /** Rejects at once with the signal's reason. */
  readonly signal?: AbortSignal
}

/**
 * Calls `check` until it returns a value other than undefined, null or false, and returns that value. A check that
 * throws is retried; its last error is the cause of the error after the time-out.
 */
export async function waitFor<T>(
  what: string,
  check: () => T | Promise<T>,
  { timeoutMs = 120_000, intervalMs = 100, signal }: WaitOptions = {},
): Promise<Exclude<T, undefined | null | false>> {
  const deadline = performance.now() + timeoutMs
  let cause: unknown
  for (;;) {
    signal?.throwIfAborted()
    try {
      const value = await check()
      if (value !== undefined && value !== null && value !== false)
        return value as Exclude<T, undefined | null | false>
      cause = undefined
    } catch (error) {
      cause = error
    }
    if (performance.now() >= deadline) {
      const because = cause instanceof Error ? `: ${cause.message}` : ''
      throw new Error(`Waited ${timeoutMs / 1000} s in vain for ${what}${because}`, { cause })
    }
    await sleep(intervalMs)
  }
}
