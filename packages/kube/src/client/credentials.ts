// SPDX-License-Identifier: Apache-2.0

export type HeaderValues = Readonly<Record<string, string | readonly string[]>>

/** Where requests get their authentication headers. Client certificates are the transport's affair. */
export interface Credentials {
  /** Headers of the next request. A promise only when something must be read first; it may reject with a
   * CredentialsError. */
  headers(): HeaderValues | Promise<HeaderValues>
  /** The server answered 401. True when there are now other credentials and the request is worth repeating. */
  refused(): Promise<boolean>
}

/** No credentials could be obtained. The message tells a person what to look at and never contains the secret. */
export class CredentialsError extends Error {
  override readonly name = 'CredentialsError'
}
