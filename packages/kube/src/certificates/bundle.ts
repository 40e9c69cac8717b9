// SPDX-License-Identifier: Apache-2.0

import { createPrivateKey, X509Certificate } from 'node:crypto'

/** What is kept in the Secret, as PEM; empty where nothing is there yet. */
export interface CertificateBundle {
  readonly serverCert: string
  readonly serverKey: string
  /** The authority that signs, then older ones that are still published. */
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

/** The certificates of a PEM text, in order; what cannot be read is left out. */
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

/** What is wrong with an authority at a moment; undefined when nothing is. PKCS#1 and PKCS#8 keys are read. */
export function authorityProblem(
  authority: X509Certificate | undefined,
  key: string,
  name: string,
  at: number,
): string | undefined {
  if (!authority) return 'there is no readable authority certificate'
  if (!keyFits(authority, key)) return 'the authority key is missing, unreadable or of another certificate'
  if (!authority.ca) return 'the authority certificate may not sign others'
  if (!authority.checkHost(name)) return `the authority is not named ${name}`
  if (!isValidAt(authority, at)) return `the authority is not valid on ${new Date(at).toISOString()}`
  return undefined
}

/** What is wrong with a server certificate at a moment, for clients that know these authorities. */
export function serverProblem(
  bundle: CertificateBundle,
  authorities: readonly X509Certificate[],
  name: string,
  at: number,
): string | undefined {
  const [server] = readCertificates(bundle.serverCert)
  if (!server) return 'there is no readable server certificate'
  if (!keyFits(server, bundle.serverKey))
    return 'the server key is missing, unreadable or of another certificate'
  if (!server.checkHost(name)) return `the server certificate is not for ${name}`
  if (!server.keyUsage?.includes(serverAuth)) return 'the server certificate is not for server authentication'
  if (!isValidAt(server, at)) return `the server certificate is not valid on ${new Date(at).toISOString()}`
  if (!authorities.some(authority => isSignedBy(server, authority) && isValidAt(authority, at)))
    return 'the server certificate is not signed by a valid authority'
  return undefined
}

function keyFits(certificate: X509Certificate, key: string): boolean {
  try {
    return certificate.checkPrivateKey(createPrivateKey(key))
  } catch {
    return false
  }
}
