// SPDX-License-Identifier: Apache-2.0

import type { KubeError } from './error.ts'

/** How often the client tries, and how long it waits in between. The waits are for requests that failed for a moment;
 * what fails longer belongs to the caller's own queue, which need not hold a worker while it waits. */
export interface RetryPolicy {
  /** Attempts, the first included, while the server throttles: it works and will take the request. */
  readonly throttledAttempts: number
  /** Attempts, the first included, when the connection or the server fails. */
  readonly failedAttempts: number
  readonly firstDelayMs: number
  readonly longestDelayMs: number
}

export const defaultRetryPolicy: RetryPolicy = {
  throttledAttempts: 10,
  failedAttempts: 3,
  firstDelayMs: 100,
  longestDelayMs: 10_000,
}

/** A server that asks for more than this gets its request when the caller tries again. */
const longestObeyedRetryAfterSeconds = 60

/** How long to wait before the next attempt; undefined when the failure is final. `attempt` counts from 1. */
export function retryDelayMs(
  error: KubeError,
  attempt: number,
  idempotent: boolean,
  policy: RetryPolicy,
  random: () => number,
): number | undefined {
  const asked = error.retryAfterSeconds
  if (asked !== undefined && asked > longestObeyedRetryAfterSeconds) return undefined
  const throttled = error.code === 'TooManyRequests'
  if (attempt >= (throttled ? policy.throttledAttempts : policy.failedAttempts)) return undefined
  if (!throttled && !mayTryAgain(error, idempotent)) return undefined
  return (asked ?? 0) * 1000 + backoffMs(attempt, policy, random)
}

/** Between half and all of a doubling wait, so that requests which failed together do not come back together. */
export function backoffMs(attempt: number, policy: RetryPolicy, random: () => number): number {
  const full = Math.min(policy.longestDelayMs, policy.firstDelayMs * 2 ** Math.min(attempt - 1, 30))
  return full * (0.5 + random() / 2)
}

/** The server, or something on the way, failed in a way that leaves open whether the request was carried out. */
export function mayBeCarriedOut(error: KubeError): boolean {
  if (error.code === 'Internal' || error.code === 'Malformed') return true
  if (error.code === 'ServiceUnavailable') return error.retryAfterSeconds === undefined
  return isUnanswered(error)
}

export function isUnanswered(error: KubeError): boolean {
  if (error.code === 'Network') return error.sent
  return error.code === 'Timeout' || error.code === 'ServerTimeout'
}

/** The server surely did nothing, and will take the request when it is less busy or back. */
export function wasTurnedAway(error: KubeError): boolean {
  if (error.code === 'Network') return !error.sent
  if (error.code === 'ServiceUnavailable') return error.retryAfterSeconds !== undefined
  return error.code === 'TooManyRequests'
}

function mayTryAgain(error: KubeError, idempotent: boolean): boolean {
  switch (error.code) {
    case 'Network':
      return idempotent || !error.sent
    case 'Timeout':
    case 'ServerTimeout':
      return idempotent
    case 'ServiceUnavailable':
      // With Retry-After the server's own filters turned it away before doing anything.
      return idempotent || error.retryAfterSeconds !== undefined
    case 'Internal':
      return idempotent && error.retryAfterSeconds !== undefined
    default:
      return false
  }
}
