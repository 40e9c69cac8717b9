// SPDX-License-Identifier: Apache-2.0

// The byte-level interface to the API server. api-connection.ts implements it over sockets; a program with its own
// API server passes a function. The transport of @grove/kube fits too.

export interface TransportRequest {
  readonly method: 'GET'
  /** Path and query, escaped. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** The response fails after this long without a byte from the server. */
  readonly timeoutMs: number
  readonly signal?: AbortSignal
}

export interface TransportStream {
  readonly status: number
  /** Names are lower-case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  /** Ends when the server ends the response, throws if it is cut. Leaving the loop closes it. */
  readonly body: AsyncIterable<Uint8Array>
}

export interface Transport {
  /** Returns a response with any HTTP status; throws if there is none. */
  stream(request: TransportRequest): Promise<TransportStream>
}
