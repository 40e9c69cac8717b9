// SPDX-License-Identifier: Apache-2.0

import { createPrivateKey, X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'

/** The content of the Secret, as PEM. Missing entries are empty. */
export interface CertificateBundle {
  readonly serverCert: string
  readonly serverKey: string
  /** The signing authority, then older ones that are still published. */
  readonly authorityCerts: string
  readonly authorityKey: string
}

export const emptyBundle: CertificateBundle = {
  serverCert: '',
  serverKey: '',
  authorityCerts: '',
  authorityKey: '',
}

const serverAuth = '1.3.6.1.5.5.7.3.1'
const anyExtendedUsage = '2.5.29.37.0'

/** Reads the certificates of a PEM text, in order. Skips those that cannot be parsed. */
export function readCertificates(pem: string): X509Certificate[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g) ?? []
  return blocks.flatMap(block => {
    try {
      return [new X509Certificate(block)]
    } catch {
      return []
    }
  })
}

export function writeCertificates(certificates: readonly X509Certificate[]): string {
  return certificates.map(String).join('')
}

function isValidAt(certificate: X509Certificate, at: number): boolean {
  return certificate.validFromDate.getTime() <= at && at <= certificate.validToDate.getTime()
}

export function isSignedBy(certificate: X509Certificate, authority: X509Certificate): boolean {
  return certificate.checkIssued(authority) && certificate.verify(authority.publicKey)
}

/** Returns the problem of an authority at a given time, or undefined. Accepts PKCS#1 and PKCS#8 keys. */
export function authorityProblem(
  authority: X509Certificate | undefined,
  key: string,
  name: string,
  at: number,
): string | undefined {
  if (!authority) return 'the authority certificate is missing or unreadable'
  if (!keyFits(authority, key))
    return 'the authority key is missing, unreadable or does not match its certificate'
  if (!authority.ca) return 'the authority certificate is not a CA certificate'
  if (!authority.checkHost(name)) return `the authority is not named ${name}`
  if (!isValidAt(authority, at)) return `the authority is not valid on ${new Date(at).toISOString()}`
  return undefined
}

/** Returns the problem of a server certificate at a given time, for clients that trust these authorities. */
export function serverProblem(
  bundle: CertificateBundle,
  authorities: readonly X509Certificate[],
  name: string,
  at: number,
): string | undefined {
  const [server] = readCertificates(bundle.serverCert)
  if (server && !keyFits(server, bundle.serverKey))
    return 'the server key is missing, unreadable or does not match its certificate'
  return trustProblem(bundle.serverCert, authorities, name, at)
}

/**
 * Returns the problem that an API server which trusts these authorities finds in a served certificate (PEM, followed
 * by its intermediates). The rules are those of Go's TLS client. Names come from the alternative names only. A
 * certificate without an extended key usage serves every purpose. A certificate that is itself in the bundle is
 * trusted.
 */
export function trustProblem(
  served: string,
  authorities: readonly X509Certificate[],
  name: string,
  at: number,
): string | undefined {
  const [server, ...intermediates] = readCertificates(served)
  if (!server) return 'the server certificate is missing or unreadable'
  const isNamed = isIP(name) ? server.checkIP(name) : server.checkHost(name, { subject: 'never' })
  if (!isNamed) return `the server certificate is not for ${name}`
  const usages = server.keyUsage as readonly string[] | undefined
  if (usages && !usages.includes(serverAuth) && !usages.includes(anyExtendedUsage))
    return 'the server certificate is not for server authentication'
  if (!isValidAt(server, at)) return `the server certificate is not valid on ${new Date(at).toISOString()}`
  const roots = authorities.filter(authority => isValidAt(authority, at))
  if (!chains(server, intermediates, roots, at))
    return 'the server certificate is not signed by a valid authority'
  return undefined
}

/** Reports whether a root signed the certificate, directly or through the intermediates. Each is used at most once. */
function chains(
  certificate: X509Certificate,
  intermediates: readonly X509Certificate[],
  roots: readonly X509Certificate[],
  at: number,
): boolean {
  if (roots.some(root => root.fingerprint256 === certificate.fingerprint256 || isSignedBy(certificate, root)))
    return true
  const issuer = intermediates.find(one => one.ca && isValidAt(one, at) && isSignedBy(certificate, one))
  if (!issuer) return false
  const others = intermediates.filter(one => one !== issuer)
  return chains(issuer, others, roots, at)
}

function keyFits(certificate: X509Certificate, key: string): boolean {
  try {
    return certificate.checkPrivateKey(createPrivateKey(key))
  } catch {
    return false
  }
}
