// SPDX-License-Identifier: Apache-2.0

import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto'
import type { Store } from '../store/index.ts'
import type { SigningKey } from './json-web-token.ts'

/** Kept beside the objects but served by no resource: tokens outlive a restart where the objects do. */
const storage = 'signing-keys.internal'
const name = 'service-accounts'

/** The key that signs the tokens of service accounts; made when it is first needed. */
export function signingKeyOf(store: Store): SigningKey {
  const stored = store.get(storage, name)
  if (stored) {
    const privateKey = createPrivateKey(String(stored.privateKey))
    return { privateKey, publicKey: createPublicKey(privateKey) }
  }
  const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const privateKey = pair.privateKey.export({ type: 'pkcs8', format: 'pem' })
  store.write(storage, name, { metadata: { name }, privateKey }, undefined)
  return pair
}
