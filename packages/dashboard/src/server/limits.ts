// SPDX-License-Identifier: Apache-2.0

// Limits of the server. Clients are not authenticated, so each resource that a client can occupy is bounded.

/** A browser opens up to six, one of them for the stream of changes. */
export const maxConnections = 256

/** Streams stay open, so they must leave connections for pages. */
export const maxStreams = 100

/** A request has no body, and its longest part is the path of a set. */
export const maxHeaderBytes = 8 * 1024

export const headersTimeoutMs = 10_000
export const requestTimeoutMs = 10_000
export const keepAliveTimeoutMs = 30_000

/** A client that reads so slowly that more than this waits for it is disconnected. */
export const maxUnreadBytes = 64 * 1024

/** Changes of the cluster within this time are one change for the clients. */
export const coalescedMs = 500

/** Shorter than the idle timeouts of usual proxies. Also the time after which a page notices a silent cluster. */
export const heartbeatMs = 20_000
