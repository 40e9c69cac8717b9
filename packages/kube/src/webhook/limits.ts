// SPDX-License-Identifier: Apache-2.0

// Limits of the webhook server. Clients are not authenticated: every pod that reaches the port can open connections
// and send requests, so each resource that a client can occupy is bounded.

/** A review of this many bytes or more is rejected: an API server sends at most two objects of 3 MiB. */
export const reviewLimitBytes = 7 * 1024 * 1024

/** Request bodies in memory, over all connections: room for nine of the largest reviews, or thousands of usual ones. */
export const bufferedLimitBytes = 64 * 1024 * 1024

/** Far more than the concurrent calls of several API servers; each connection costs about 50 KiB for TLS. */
export const maxConnections = 512

/** From the first byte of a request to its last: the API allows no webhook more time than this. */
export const requestTimeoutMs = 30_000

/** For the headers of a request, and for a new connection to send its first request. */
export const headersTimeoutMs = 10_000

export const handshakeTimeoutMs = 10_000

/** Interval at which Node checks connections against the limits above. */
export const connectionsCheckingIntervalMs = 5_000

/**
 * Longer than API servers keep idle connections (90 s): the API server closes first, and no request meets a closing
 * one.
 */
export const keepAliveTimeoutMs = 120_000

/** The value of Retry-After for clients of a full server. API servers retry until their time-out. */
export const retryAfterSeconds = 1

/** The default time-out of API servers for a webhook. */
const defaultAdmissionTimeoutMs = 10_000

/** The server responds before this share of the API server's time-out is over, so that the response still arrives. */
const usableTimeoutShare = 0.9

/** The server never waits longer than this for a decision, for any time-out of the client. */
const maxDecisionMs = 9_000

/** API servers send their time-out in the query: `?timeout=10s`. */
export function decisionMs(url: URL): number {
  const [, amount, unit] = /^(\d{1,9})(ms|s)$/.exec(url.searchParams.get('timeout') ?? '') ?? []
  const timeoutMs = amount ? Number(amount) * (unit === 's' ? 1_000 : 1) : defaultAdmissionTimeoutMs
  return Math.min(maxDecisionMs, Math.floor(timeoutMs * usableTimeoutShare))
}

/** The server has no room for a request now. The client gets HTTP 429 and may retry. */
export class Overloaded extends Error {}
