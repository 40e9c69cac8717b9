// SPDX-License-Identifier: Apache-2.0

import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto'
import type { Store } from '../store/index.ts'
import type { SigningKey } from './json-web-token.ts'

/**
 * The key is stored with the objects, so that tokens stay valid after a restart if the objects do. No
 * resource can have this name, so the API does not serve it.
 */
const storage = '/signing-keys'
const name = 'service-accounts'

/** Returns the key that signs service account tokens; undefined before the first token. */
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
