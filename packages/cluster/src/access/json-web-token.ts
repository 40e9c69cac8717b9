// SPDX-License-Identifier: Apache-2.0

import { createHash, type KeyObject, sign, verify } from 'node:crypto'

export interface SigningKey {
  readonly privateKey: KeyObject
  readonly publicKey: KeyObject
}

const encoding = 'ieee-p1363'

/** A compact JWT, signed with ES256. */
export function signToken(key: SigningKey, claims: object): string {
  const header = { alg: 'ES256', kid: keyId(key.publicKey) }
  const text = `${encode(header)}.${encode(claims)}`
  const signature = sign('sha256', Buffer.from(text), { key: key.privateKey, dsaEncoding: encoding })
  return `${text}.${signature.toString('base64url')}`
}

/** The claims of a token that this key has signed; undefined for anything else. Says nothing about its time. */
export function openToken(key: SigningKey, token: string): Record<string, unknown> | undefined {
  const [header, claims, signature, ...rest] = token.split('.')
  if (!header || !claims || !signature || rest.length > 0) return undefined
  // The algorithm is ours to choose, never the token's: "none" and keys used as secrets end here.
  if (decode(header)?.alg !== 'ES256') return undefined
  const valid = verify(
    'sha256',
    Buffer.from(`${header}.${claims}`),
    { key: key.publicKey, dsaEncoding: encoding },
    Buffer.from(signature, 'base64url'),
  )
  return valid ? decode(claims) : undefined
}

function keyId(key: KeyObject): string {
  return createHash('sha256')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest('base64url')
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}

function decode(part: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'))
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined
  } catch {
    return undefined
  }
}
