// SPDX-License-Identifier: Apache-2.0

// A certificate authority for one control plane, and the certificates it signs: ECDSA P-256, valid for a year.
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import { bits, explicit, implicit, integer, octets, oid, sequence, set, text, time, yes } from './der.ts'

export interface KeyPair {
  /** Certificate, PEM. */
  readonly certificate: string
  /** Private key, PKCS #8 PEM. */
  readonly key: string
}

/** Who a client certificate speaks for: Kubernetes reads CN as the user and every O as a group. */
export interface Subject {
  readonly user: string
  readonly groups?: readonly string[]
}

export interface Authority {
  readonly pair: KeyPair
  client(subject: Subject): KeyPair
  /** Names that look like IPv4 addresses become address entries, all others DNS entries. */
  server(commonName: string, names: readonly string[]): KeyPair
}

/** The subject by which a ServiceAccount is known, for a certificate in its place. */
export function serviceAccount(namespace: string, name: string): Subject {
  return {
    user: `system:serviceaccount:${namespace}:${name}`,
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`],
  }
}

export function newAuthority(commonName: string): Authority {
  const keys = newKeys()
  const self = { name: nameOf({ user: commonName }), keys }
  const caUsage = extension('2.5.29.15', bits(Buffer.from([0x06]), 1), true)
  const constraints = extension('2.5.29.19', sequence(yes), true)
  const certificate = issue(self, self, [constraints, caUsage])
  const signed = (subject: Subject, extensions: Buffer[]): KeyPair => {
    const leaf = { name: nameOf(subject), keys: newKeys() }
    return { certificate: issue(self, leaf, [leafUsage, ...extensions]), key: pemOf(leaf.keys.privateKey) }
  }
  return {
    pair: { certificate, key: pemOf(keys.privateKey) },
    client: subject => signed(subject, [purpose('1.3.6.1.5.5.7.3.2')]),
    server: (user, names) => signed({ user }, [purpose('1.3.6.1.5.5.7.3.1'), alternativeNames(names)]),
  }
}

/** A key pair without a certificate, as the apiserver signs ServiceAccount tokens with. */
export function newSigningKey(): { readonly privateKey: string; readonly publicKey: string } {
  const { privateKey, publicKey } = newKeys()
  return {
    privateKey: pemOf(privateKey),
    publicKey: publicKey.export({ type: 'spki', format: 'pem' }) as string,
  }
}

interface Keys {
  readonly privateKey: KeyObject
  readonly publicKey: KeyObject
}

interface Party {
  readonly name: Buffer
  readonly keys: Keys
}

const hour = 3_600_000
const ecdsaWithSha256 = sequence(oid('1.2.840.10045.4.3.2'))
const leafUsage = extension('2.5.29.15', bits(Buffer.from([0x80]), 7), true)

function newKeys(): Keys {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' })
}

function issue(issuer: Party, subject: Party, extensions: Buffer[]): string {
  const now = Date.now()
  // An hour back, so that a clock that is a little behind does not refuse a fresh certificate.
  const validity = sequence(time(new Date(now - hour)), time(new Date(now + 365 * 24 * hour)))
  const body = sequence(
    explicit(0, integer(Buffer.from([2]))),
    integer(randomBytes(16)),
    ecdsaWithSha256,
    issuer.name,
    validity,
    subject.name,
    publicKeyInfo(subject.keys),
    explicit(
      3,
      sequence(
        ...extensions,
        extension('2.5.29.14', octets(keyIdentifier(subject.keys))),
        extension('2.5.29.35', sequence(implicit(0, keyIdentifier(issuer.keys)))),
      ),
    ),
  )
  const signature = sign('sha256', body, issuer.keys.privateKey)
  const base64 = sequence(body, ecdsaWithSha256, bits(signature)).toString('base64')
  const lines = base64.match(/.{1,64}/g) ?? []
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n')
}

function nameOf({ user, groups = [] }: Subject): Buffer {
  const attribute = (type: string, value: string) => set(sequence(oid(type), text(value)))
  return sequence(...groups.map(group => attribute('2.5.4.10', group)), attribute('2.5.4.3', user))
}

function extension(type: string, value: Buffer, critical = false): Buffer {
  return sequence(oid(type), ...(critical ? [yes] : []), octets(value))
}

function purpose(type: string): Buffer {
  return extension('2.5.29.37', sequence(oid(type)))
}

function alternativeNames(names: readonly string[]): Buffer {
  const entries = names.map(name =>
    /^\d+(\.\d+){3}$/.test(name)
      ? implicit(7, Buffer.from(name.split('.').map(Number)))
      : implicit(2, Buffer.from(name)),
  )
  return extension('2.5.29.17', sequence(...entries))
}

function publicKeyInfo(keys: Keys): Buffer {
  return keys.publicKey.export({ type: 'spki', format: 'der' })
}

function keyIdentifier(keys: Keys): Buffer {
  return createHash('sha1').update(publicKeyInfo(keys)).digest()
}

function pemOf(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }) as string
}
