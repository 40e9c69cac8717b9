// SPDX-License-Identifier: Apache-2.0

// The byte-level interface of the client. Implementations: http-transport.ts over sockets, scripts in tests, and a
// function call in a program with its own API server.

export interface TransportRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Path and query, escaped. */
  readonly path: string
  readonly headers: Readonly<Record<string, string | readonly string[]>>
  readonly body?: string
  /** Fails with a TransportError of kind `timeout` after this long without a byte from the server. */
  readonly timeoutMs: number
  /** Longest wait for the start of the response. Default: `timeoutMs`. */
  readonly responseTimeoutMs?: number
  readonly signal?: AbortSignal
}

/** Header names are lower-case. */
export type TransportHeaders = Readonly<Record<string, string | readonly string[] | undefined>>

export interface TransportResponse {
  readonly status: number
  readonly headers: TransportHeaders
  readonly body: ResponseBody
}

/** A text, or its UTF-8 bytes as received. */
export type ResponseBody = string | Buffer

export interface TransportStream {
  readonly status: number
  readonly headers: TransportHeaders
  /** Ends when the server ends the response; throws a TransportError if it is cut. Leaving the loop closes it. */
  readonly body: AsyncIterable<Uint8Array>
}

export interface Transport {
  /** Returns the complete response, with any HTTP status. Throws only a TransportError. */
  request(request: TransportRequest): Promise<TransportResponse>
  /** Returns the response as it arrives. */
  stream(request: TransportRequest): Promise<TransportStream>
  /** Waits for requests in flight; rejects new ones. */
  close(): Promise<void>
}

export type TransportFailure = 'network' | 'timeout' | 'aborted'

export class TransportError extends Error {
  override readonly name = 'TransportError'
  readonly kind: TransportFailure
  /** False if no byte of the request can have reached the server. */
  readonly sent: boolean

  constructor(kind: TransportFailure, sent: boolean, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.kind = kind
    this.sent = sent
  }
}
