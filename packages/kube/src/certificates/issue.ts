// SPDX-License-Identifier: Apache-2.0

// Issues the certificates of a webhook server: a self-signed authority and server certificates under it, each with a
// new key. Keys are generated asynchronously, because an RSA key takes hundreds of milliseconds.
import { generateKeyPair, type KeyObject } from 'node:crypto'
import { promisify } from 'node:util'
import { type CertificateContent, certify, type KeyPair } from './x509.ts'

export type KeyKind = 'ecdsa-p256' | 'rsa-2048'

export interface CertificateRequest extends CertificateContent {
  readonly key: KeyKind
}

export async function issueAuthority(request: CertificateRequest): Promise<KeyPair> {
  return certify('authority', request, await generateKey(request.key))
}

export async function issueServer(request: CertificateRequest, authority: KeyPair): Promise<KeyPair> {
  return certify('server', request, await generateKey(request.key), authority)
}

async function generateKey(kind: KeyKind): Promise<KeyObject> {
  const generate = promisify(generateKeyPair)
  const { privateKey } =
    kind === 'rsa-2048'
      ? await generate('rsa', { modulusLength: 2048 })
      : await generate('ec', { namedCurve: 'P-256' })
  return privateKey
}
