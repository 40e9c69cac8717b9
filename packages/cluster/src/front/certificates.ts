// SPDX-License-Identifier: Apache-2.0

// The certificates of one cluster: made when it starts, trusted only by its own kubeconfig. ECDSA P-256.
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import { bits, explicit, implicit, integer, octets, oid, sequence, set, text, time, yes } from './der.ts'

/** A key pair as PEM texts. */
export interface KeyPair {
  readonly certificate: string
  readonly privateKey: string
}

export interface ClusterCertificates {
  readonly authority: string
  readonly server: KeyPair
  readonly admin: KeyPair
  /** A client certificate: the user is the common name, the groups are the organizations. */
  issueClient(user: string, groups?: readonly string[]): KeyPair
}

interface Keys {
  readonly privateKey: KeyObject
  readonly publicKey: KeyObject
}

interface Party {
  readonly name: Buffer
  readonly keys: Keys
}

const hourMs = 3_600_000
const lifetimeMs = 365 * 24 * hourMs
const ecdsaWithSha256 = sequence(oid('1.2.840.10045.4.3.2'))
const usages = { signCertificates: bits(Buffer.from([0x06]), 1), signData: bits(Buffer.from([0x80]), 7) }
const purposes = { server: '1.3.6.1.5.5.7.3.1', client: '1.3.6.1.5.5.7.3.2' }

export function makeCertificates(now: number, hosts: readonly string[]): ClusterCertificates {
  const authority: Party = { name: nameOf('grove-cluster-ca'), keys: newKeys() }
  const constraints = extension('2.5.29.19', sequence(yes), true)
  const certificate = issue(now, authority, authority, [
    constraints,
    extension('2.5.29.15', usages.signCertificates, true),
  ])
  const leaf = (name: Buffer, extensions: readonly Buffer[]): KeyPair => {
    const party = { name, keys: newKeys() }
    return {
      certificate: issue(now, authority, party, [
        extension('2.5.29.15', usages.signData, true),
        ...extensions,
      ]),
      privateKey: party.keys.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
    }
  }
  const issueClient = (user: string, groups: readonly string[] = []) =>
    leaf(nameOf(user, groups), [purpose(purposes.client)])
  return {
    authority: certificate,
    server: leaf(nameOf('kube-apiserver'), [purpose(purposes.server), alternativeNames(hosts)]),
    admin: issueClient('kubernetes-admin', ['system:masters']),
    issueClient,
  }
}

function newKeys(): Keys {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' })
}

function issue(now: number, issuer: Party, subject: Party, extensions: readonly Buffer[]): string {
  // An hour back, so that a clock that is a little behind does not refuse a fresh certificate.
  const validity = sequence(time(new Date(now - hourMs)), time(new Date(now + lifetimeMs)))
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
  const lines =
    sequence(body, ecdsaWithSha256, bits(signature))
      .toString('base64')
      .match(/.{1,64}/g) ?? []
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n')
}

function nameOf(user: string, groups: readonly string[] = []): Buffer {
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
