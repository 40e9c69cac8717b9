// SPDX-License-Identifier: Apache-2.0

// How bytes travel. The client knows only this; over sockets it is http-transport.ts, in tests a script, in a
// program with its own API server a function call.

export interface TransportRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Path and query, escaped. */
  readonly path: string
  readonly headers: Readonly<Record<string, string | readonly string[]>>
  readonly body?: string
  /** Fails with a TransportError of kind `timeout` after this long without a byte from the server. */
  readonly timeoutMs: number
  /** How long the answer may take to begin; `timeoutMs` unless told. */
  readonly answerTimeoutMs?: number
  readonly signal?: AbortSignal
}

/** Header names are lower-case. */
export type TransportHeaders = Readonly<Record<string, string | readonly string[] | undefined>>

export interface TransportResponse {
  readonly status: number
  readonly headers: TransportHeaders
  readonly body: AnswerBody
}

/** A text, or its UTF-8 bytes as they came. */
export type AnswerBody = string | Buffer

export interface TransportStream {
  readonly status: number
  readonly headers: TransportHeaders
  /** Ends when the server ends the answer; throws a TransportError when it is cut. Leaving the loop closes it. */
  readonly body: AsyncIterable<Uint8Array>
}

export interface Transport {
  /** The whole answer. Any HTTP status is an answer; throws only a TransportError. */
  request(request: TransportRequest): Promise<TransportResponse>
  /** The answer as it comes. */
  stream(request: TransportRequest): Promise<TransportStream>
  /** Lets what is in flight finish, takes nothing new. */
  close(): Promise<void>
}

export type TransportFailure = 'network' | 'timeout' | 'aborted'

export class TransportError extends Error {
  override readonly name = 'TransportError'
  readonly kind: TransportFailure
  /** False when not a byte of the request can have reached the server. */
  readonly sent: boolean

  constructor(kind: TransportFailure, sent: boolean, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.kind = kind
    this.sent = sent
  }
}
