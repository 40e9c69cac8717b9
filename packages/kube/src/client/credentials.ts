// SPDX-License-Identifier: Apache-2.0

export type HeaderValues = Readonly<Record<string, string | readonly string[]>>

/** The source of authentication headers. The transport handles client certificates. */
export interface Credentials {
  /**
   * Headers of the next request. Returns a promise only if something must be read first; it may reject with a
   * CredentialsError.
   */
  headers(): HeaderValues | Promise<HeaderValues>
  /** Called after a 401. Resolves with true if there are new credentials and the request should be repeated. */
  handleUnauthorized(): Promise<boolean>
}

/** Credentials could not be obtained. The message names the cause and never contains the secret. */
export class CredentialsError extends Error {
  override readonly name = 'CredentialsError'
}
