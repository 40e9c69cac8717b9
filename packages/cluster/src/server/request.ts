// SPDX-License-Identifier: Apache-2.0

/** The authenticated user of a request. */
export interface UserInfo {
  readonly name: string
  readonly uid?: string
  readonly groups: readonly string[]
  readonly extra?: Readonly<Record<string, readonly string[]>>
}

/** A request as a value. The HTTPS and in-process transports create it. */
export interface ApiRequest {
  readonly method: string
  /** The decoded path without the query. */
  readonly path: string
  readonly query: URLSearchParams
  /** Names are in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body?: Uint8Array | string
  readonly user: UserInfo
  /** Aborted when the client disconnects. Ends a watch. */
  readonly signal?: AbortSignal
}

/**
 * A response as a value. Watches have a `stream` instead of a `body`: chunks of text, pulled as fast as the
 * client reads.
 */
export interface ApiResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[]>>
  readonly body?: string
  /** Instead of `body`, for binary content. */
  readonly bytes?: Uint8Array
  readonly stream?: AsyncIterable<string>
}
