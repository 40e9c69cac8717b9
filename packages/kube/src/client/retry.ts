// SPDX-License-Identifier: Apache-2.0

import type { KubeError } from './error.ts'

/**
 * Number of attempts and waits between them. They cover short failures. Longer ones belong to the caller's queue,
 * which does not block a worker while it waits.
 */
export interface RetryPolicy {
  /** Attempts, including the first, while the server throttles: it works and will accept the request. */
  readonly throttledAttempts: number
  /** Attempts, including the first, if the connection or the server fails. */
  readonly failedAttempts: number
  readonly firstDelayMs: number
  readonly maxDelayMs: number
}

export const defaultRetryPolicy: RetryPolicy = {
  throttledAttempts: 10,
  failedAttempts: 3,
  firstDelayMs: 100,
  maxDelayMs: 10_000,
}

/** If the server asks for a longer wait, the request fails and the caller retries. */
const maxRetryAfterSeconds = 60

/** Returns the wait before the next attempt; undefined if the failure is final. `attempt` counts from 1. */
export function retryDelayMs(
  error: KubeError,
  attempt: number,
  idempotent: boolean,
  policy: RetryPolicy,
  random: () => number,
): number | undefined {
  const retryAfter = error.retryAfterSeconds
  if (retryAfter !== undefined && retryAfter > maxRetryAfterSeconds) return undefined
  const throttled = error.code === 'TooManyRequests'
  if (attempt >= (throttled ? policy.throttledAttempts : policy.failedAttempts)) return undefined
  if (!throttled && !mayTryAgain(error, idempotent)) return undefined
  return (retryAfter ?? 0) * 1000 + backoffMs(attempt, policy, random)
}

/**
 * Returns a random share between half and all of a doubling wait, so that requests which failed together are not
 * repeated together.
 */
export function backoffMs(attempt: number, policy: RetryPolicy, random: () => number): number {
  const full = Math.min(policy.maxDelayMs, policy.firstDelayMs * 2 ** Math.min(attempt - 1, 30))
  return full * (0.5 + random() / 2)
}

/** Reports whether the request may have been carried out although the server or the connection failed. */
export function mayBeCarriedOut(error: KubeError): boolean {
  if (error.code === 'Internal' || error.code === 'Malformed') return true
  if (error.code === 'ServiceUnavailable') return error.retryAfterSeconds === undefined
  return hasNoResponse(error)
}

export function hasNoResponse(error: KubeError): boolean {
  if (error.code === 'Network') return error.sent
  return error.code === 'Timeout' || error.code === 'ServerTimeout'
}

/**
 * Reports whether the server certainly did nothing and will accept the request when it is less busy or available
 * again.
 */
export function wasNotProcessed(error: KubeError): boolean {
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
      // With Retry-After, the server's filters rejected the request before any effect.
      return idempotent || error.retryAfterSeconds !== undefined
    case 'Internal':
      return idempotent && error.retryAfterSeconds !== undefined
    default:
      return false
  }
}
