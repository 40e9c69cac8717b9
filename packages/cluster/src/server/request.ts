// SPDX-License-Identifier: Apache-2.0

/** Who asks. */
export interface UserInfo {
  readonly name: string
  readonly uid?: string
  readonly groups: readonly string[]
  readonly extra?: Readonly<Record<string, readonly string[]>>
}

/** A request as a value: what a front (HTTPS, in process) hands to the server. */
export interface ApiRequest {
  readonly method: string
  /** Decoded path without query. */
  readonly path: string
  readonly query: URLSearchParams
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body?: Uint8Array | string
  readonly user: UserInfo
  /** Aborted when the client is gone; ends a watch. */
  readonly signal?: AbortSignal
}

/** An answer as a value; `stream` instead of `body` for watches: chunks of text, pulled as fast as they are sent. */
export interface ApiResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[]>>
  readonly body?: string
  /** Instead of `body`, for what is no text. */
  readonly bytes?: Uint8Array
  readonly stream?: AsyncIterable<string>
}
