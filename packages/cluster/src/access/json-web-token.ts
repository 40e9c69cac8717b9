// SPDX-License-Identifier: Apache-2.0

import { createHash, type KeyObject } from 'node:crypto'
import { CompactSign, compactVerify } from 'jose'

export interface SigningKey {
  readonly privateKey: KeyObject
  readonly publicKey: KeyObject
}

const alg = 'ES256'

/** A compact JWT, signed with ES256. */
export function signToken(key: SigningKey, claims: object): Promise<string> {
  return new CompactSign(Buffer.from(JSON.stringify(claims)))
    .setProtectedHeader({ alg, kid: keyId(key.publicKey) })
    .sign(key.privateKey)
}

/**
 * Returns the claims of a token that this key signed; undefined for other tokens. Does not check the
 * expiration.
 */
export async function openToken(
  key: SigningKey,
  token: string,
): Promise<Record<string, unknown> | undefined> {
  try {
    // The server chooses the algorithm, never the token: "none" and keys used as secrets are rejected.
    const { payload } = await compactVerify(token, key.publicKey, { algorithms: [alg] })
    const claims: unknown = JSON.parse(Buffer.from(payload).toString('utf8'))
    return isObject(claims) ? claims : undefined
  } catch {
    return undefined
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function keyId(key: KeyObject): string {
  return createHash('sha256')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest('base64url')
}
