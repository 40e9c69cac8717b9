// SPDX-License-Identifier: Apache-2.0

/** Where the next page of a list starts, and at which revision. Clients pass it back without looking inside. */
export interface ContinueToken {
  readonly revision: number
  readonly start: string
}

const tokenVersion = 'meta.k8s.io/v1'

export function encodeContinueToken(token: ContinueToken): string {
  return Buffer.from(JSON.stringify({ v: tokenVersion, rv: token.revision, start: token.start })).toString(
    'base64url',
  )
}

/** Undefined when the text is not one of our tokens. */
export function decodeContinueToken(text: string): ContinueToken | undefined {
  try {
    const { v, rv, start } = JSON.parse(Buffer.from(text, 'base64url').toString('utf8')) as Record<
      string,
      unknown
    >
    if (v !== tokenVersion || typeof rv !== 'number' || typeof start !== 'string' || start === '')
      return undefined
    return { revision: rv, start }
  } catch {
    return undefined
  }
}
