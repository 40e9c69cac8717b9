// SPDX-License-Identifier: Apache-2.0

// How bytes travel. Over sockets it is api-connection.ts; a program with its own API server passes a function. The
// transport of @grove/kube is one of these.

export interface TransportRequest {
  readonly method: 'GET'
  /** Path and query, escaped. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** The answer fails after this long without a byte from the server. */
  readonly timeoutMs: number
  readonly signal?: AbortSignal
}

export interface TransportStream {
  readonly status: number
  /** Names are lower-case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  /** Ends when the server ends the answer, throws when it is cut. Leaving the loop closes it. */
  readonly body: AsyncIterable<Uint8Array>
}

export interface Transport {
  /** Any HTTP status is an answer; throws when there is none. */
  stream(request: TransportRequest): Promise<TransportStream>
}
