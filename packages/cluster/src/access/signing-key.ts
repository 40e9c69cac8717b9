// SPDX-License-Identifier: Apache-2.0

import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto'
import type { Store } from '../store/index.ts'
import type { SigningKey } from './json-web-token.ts'

/**
 * Kept beside the objects, so that tokens outlive a restart where the objects do, under a name that no resource can
 * have: nobody reads it through the API.
 */
const storage = '/signing-keys'
const name = 'service-accounts'

/** The key that signs the tokens of service accounts; undefined before the first of them. */
export function findSigningKey(store: Store): SigningKey | undefined {
  const stored = store.get(storage, name)
  if (!stored) return undefined
  const privateKey = createPrivateKey(String(stored.privateKey))
  return { privateKey, publicKey: createPublicKey(privateKey) }
}

export function makeSigningKey(store: Store): SigningKey {
  const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const privateKey = pair.privateKey.export({ type: 'pkcs8', format: 'pem' })
  store.write(storage, name, { metadata: { name }, privateKey }, undefined)
  return pair
}
