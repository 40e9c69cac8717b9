// SPDX-License-Identifier: Apache-2.0

import { type Credentials, CredentialsError } from '../client/credentials.ts'
import type { Clock } from '../clock/index.ts'
import { PolledFile } from './polled-file.ts'

/** The same headers for every request: a fixed token, or user and password. */
export function fixedCredentials(authorization: string): Credentials {
  const headers = { authorization }
  return { headers: () => headers, handleUnauthorized: async () => false }
}

export function basicAuthorization(username: string, password: string): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
}

/**
 * A bearer token from a file that is renewed. Reads it again every few seconds, and at once when the server rejects
 * the token.
 */
export function tokenFileCredentials(path: string, clock: Clock, fallbackToken?: string): Credentials {
  const file = new PolledFile(path, clock)
  let headers: Record<string, string> | undefined
  let headersFor: string | undefined

  function token(): string {
    try {
      const text = file.read().trim()
      if (text === '') throw new CredentialsError(`the token file ${path} is empty`)
      return text
    } catch (cause) {
      if (fallbackToken) return fallbackToken
      if (cause instanceof CredentialsError) throw cause
      throw new CredentialsError(`the token file ${path} cannot be read: ${String(cause)}`, { cause })
    }
  }

  return {
    headers() {
      const current = token()
      if (!headers || headersFor !== current) {
        headers = { authorization: `Bearer ${current}` }
        headersFor = current
      }
      return headers
    },
    async handleUnauthorized() {
      try {
        return file.refresh()
      } catch {
        return false
      }
    },
  }
}
