// SPDX-License-Identifier: Apache-2.0

import { jsonSyntaxError } from './json-syntax.ts'

/** The start and the revision of the next page of a list. The token is opaque to clients. */
export interface ContinueToken {
  /** -1 if the revision of the first page was compacted, so that the rest is read at the current revision. */
  readonly revision: number
  readonly start: string
}

/** The text is not a continue token. The message says why. */
export class ContinueTokenError extends Error {}

const tokenVersion = 'meta.k8s.io/v1'

export function encodeContinueToken(token: ContinueToken): string {
  return Buffer.from(JSON.stringify({ v: tokenVersion, rv: token.revision, start: token.start })).toString(
    'base64url',
  )
}

export function decodeContinueToken(text: string): ContinueToken {
  const { v = '', rv = 0, start = '' } = readToken(text)
  if (v !== tokenVersion)
    throw new ContinueTokenError(`server does not recognize this encoded version ${String(v)}`)
  if (rv === 0)
    throw new ContinueTokenError('incorrect encoded start resourceVersion (version meta.k8s.io/v1)')
  if (start === '') throw new ContinueTokenError('encoded start key empty (version meta.k8s.io/v1)')
  if (typeof rv !== 'number' || typeof start !== 'string') throw new ContinueTokenError('wrong types')
  return { revision: rv, start }
}

function readToken(text: string): Record<string, unknown> {
  const bytes = Buffer.from(text, 'base64url')
  try {
    return JSON.parse(bytes.toString('utf8')) as Record<string, unknown>
  } catch {
    throw new ContinueTokenError(jsonSyntaxError(bytes))
  }
}
