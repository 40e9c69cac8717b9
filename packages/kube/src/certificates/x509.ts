// SPDX-License-Identifier: Apache-2.0

// Writes X.509 certificates. Serial numbers are random. Every certificate identifies the key that signed it, so one
// bundle can hold two authorities of the same name. Keys are written as PKCS#8 (EC) or PKCS#1 (RSA); both can be
// read.
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  type KeyObject,
  randomBytes,
  sign,
  X509Certificate,
} from 'node:crypto'
import { isIP, isIPv4 } from 'node:net'
import { der, readDer } from './der.ts'

/** A certificate and its private key, as PEM; named like the TLS options of Node.js. */
export interface KeyPair {
  readonly cert: string
  readonly key: string
}

/** The purpose of a certificate. */
export type CertificateUse = 'authority' | 'server' | 'client'

export interface CertificateContent {
  readonly commonName: string
  readonly organizations?: readonly string[]
  /** Subject alternative names: IP addresses become address entries, all others DNS entries. */
  readonly names?: readonly string[]
  /** Milliseconds since the epoch. */
  readonly notBefore: number
  readonly notAfter: number
}

const oids = {
  organization: '2.5.4.10',
  commonName: '2.5.4.3',
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKeyIdentifier: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
  serverAuth: '1.3.6.1.5.5.7.3.1',
  clientAuth: '1.3.6.1.5.5.7.3.2',
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
  rsaWithSha256: '1.2.840.113549.1.1.11',
}

/** keyUsage bits, most significant first: digitalSignature, …, keyEncipherment (2), …, keyCertSign (5). */
const authorityUsage = der.bitString(Buffer.from([0b1010_0100]), 2)
const leafUsage = der.bitString(Buffer.from([0b1010_0000]), 5)
const serialBytes = 16
const version3 = der.explicit(0, der.integer(Buffer.from([2])))

const extensionsFor: Record<CertificateUse, readonly Buffer[]> = {
  authority: [
    extension(oids.keyUsage, authorityUsage, 'critical'),
    extension(oids.basicConstraints, der.sequence(der.boolean(true)), 'critical'),
  ],
  server: leafExtensions(oids.serverAuth),
  client: leafExtensions(oids.clientAuth),
}

/** Issues a certificate for a key, signed by the authority, or self-signed if none is given. */
export function certify(
  use: CertificateUse,
  content: CertificateContent,
  key: KeyObject,
  authority?: KeyPair,
): KeyPair {
  const issuer = authority && new X509Certificate(authority.cert)
  const signer = authority ? createPrivateKey(authority.key) : key
  const subject = nameOf(content)
  const identifier = keyIdentifier(key)
  const issuerIdentifier = issuer ? subjectKeyIdentifier(issuer) : identifier
  const algorithm = signatureAlgorithm(signer)
  const toBeSigned = der.sequence(
    version3,
    der.integer(positive(randomBytes(serialBytes))),
    algorithm,
    // Verifiers find the authority by its subject, so the bytes must be equal.
    issuer ? subjectOf(issuer) : subject,
    der.sequence(der.time(content.notBefore), der.time(content.notAfter)),
    subject,
    createPublicKey(key).export({ format: 'der', type: 'spki' }),
    der.explicit(
      3,
      der.sequence(
        ...extensionsFor[use],
        ...alternativeNames(content.names ?? []),
        extension(oids.subjectKeyIdentifier, der.octetString(identifier)),
        ...(issuerIdentifier
          ? [extension(oids.authorityKeyIdentifier, der.sequence(der.implicit(0, issuerIdentifier)))]
          : []),
      ),
    ),
  )
  const signature = sign('sha256', toBeSigned, signer)
  const certificate = der.sequence(toBeSigned, algorithm, der.bitString(signature))
  return { cert: new X509Certificate(certificate).toString(), key: keyPem(key) }
}

function leafExtensions(purpose: string): Buffer[] {
  return [
    extension(oids.keyUsage, leafUsage, 'critical'),
    extension(oids.extendedKeyUsage, der.sequence(der.oid(purpose))),
    extension(oids.basicConstraints, der.sequence(), 'critical'),
  ]
}

function extension(oid: string, content: Buffer, critical?: 'critical'): Buffer {
  return der.sequence(der.oid(oid), ...(critical ? [der.boolean(true)] : []), der.octetString(content))
}

/** An empty extension is not allowed. */
function alternativeNames(names: readonly string[]): Buffer[] {
  if (names.length === 0) return []
  const entries = names.map(name =>
    isIP(name) ? der.implicit(7, addressBytes(name)) : der.implicit(2, Buffer.from(name)),
  )
  return [extension(oids.subjectAltName, der.sequence(...entries))]
}

function addressBytes(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split('.').map(Number))
  // The URL parser normalizes addresses: no zones, IPv4 tails as groups.
  const [head = '', tail] = new URL(`http://[${address.split('%')[0]}]`).hostname.slice(1, -1).split('::')
  const groups = (text: string | undefined) => (text ? text.split(':') : [])
  const zeros = 8 - groups(head).length - groups(tail).length
  const all = [...groups(head), ...Array.from({ length: zeros }, () => '0'), ...groups(tail)]
  return Buffer.from(all.map(group => group.padStart(4, '0')).join(''), 'hex')
}

function nameOf({ organizations = [], commonName }: CertificateContent): Buffer {
  const attribute = (oid: string, text: string) => der.set(der.sequence(der.oid(oid), der.utf8String(text)))
  return der.sequence(
    ...organizations.map(organization => attribute(oids.organization, organization)),
    attribute(oids.commonName, commonName),
  )
}

function keyPem(key: KeyObject): string {
  const type = key.asymmetricKeyType === 'rsa' ? 'pkcs1' : 'pkcs8'
  return String(key.export({ format: 'pem', type }))
}

function signatureAlgorithm(signer: KeyObject): Buffer {
  return signer.asymmetricKeyType === 'rsa'
    ? der.sequence(der.oid(oids.rsaWithSha256), der.null())
    : der.sequence(der.oid(oids.ecdsaWithSha256))
}

/** A serial number must be positive and at most 20 bytes. */
function positive(bytes: Buffer): Buffer {
  bytes[0] = (bytes[0]! & 0x7f) | 0x01
  return bytes
}

/** The first method of RFC 5280: SHA-1 of the public key's bits. It is an identifier, not a protection. */
function keyIdentifier(key: KeyObject): Buffer {
  const spki = createPublicKey(key).export({ format: 'der', type: 'spki' })
  const [, bits] = readDer(readDer(spki)[0]!.content)
  return createHash('sha1').update(bits!.content.subarray(1)).digest()
}

/** The fields of a certificate after its version: serial, algorithm, issuer, validity, subject, key, extensions. */
function fieldsOf(certificate: X509Certificate) {
  const [toBeSigned] = readDer(readDer(certificate.raw)[0]!.content)
  return readDer(toBeSigned!.content).filter(({ tag }, index) => !(index === 0 && tag === 0xa0))
}

function subjectOf(certificate: X509Certificate): Buffer {
  return fieldsOf(certificate)[4]!.raw
}

function subjectKeyIdentifier(certificate: X509Certificate): Buffer | undefined {
  const extensions = fieldsOf(certificate).find(({ tag }) => tag === 0xa3)
  if (!extensions) return undefined
  const wanted = der.oid(oids.subjectKeyIdentifier)
  for (const one of readDer(readDer(extensions.content)[0]!.content)) {
    const parts = readDer(one.content)
    if (parts[0]!.raw.equals(wanted)) return readDer(parts.at(-1)!.content)[0]!.content
  }
  return undefined
}
