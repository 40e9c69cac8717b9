// SPDX-License-Identifier: Apache-2.0

// The authority of one cluster, and the certificates by which its servers and clients know each other: ECDSA P-256,
// valid for a year. Nothing is renewed or stored: whoever needs that uses the CertificateProvisioner.
import { generateKeyPairSync } from 'node:crypto'
import { type CertificateUse, certify, type KeyPair } from './x509.ts'

/** Who a client certificate speaks for: Kubernetes reads the common name as user, every organization as a group. */
export interface ClientIdentity {
  readonly user: string
  readonly groups?: readonly string[]
}

export interface ClusterAuthority {
  readonly pair: KeyPair
  client(identity: ClientIdentity): KeyPair
  /** For these DNS names and IP addresses. */
  server(commonName: string, names: readonly string[]): KeyPair
}

const hourMs = 3_600_000
const lifetimeMs = 365 * 24 * hourMs

export function createAuthority(commonName: string, now: () => number = Date.now): ClusterAuthority {
  const issue = (
    use: CertificateUse,
    subject: { commonName: string; organizations?: readonly string[]; names?: readonly string[] },
    authority?: KeyPair,
  ) => {
    const at = now()
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    // An hour back, so that a clock that is a little behind does not refuse a fresh certificate.
    const content = { ...subject, notBefore: at - hourMs, notAfter: at + lifetimeMs }
    return certify(use, content, privateKey, authority)
  }
  const pair = issue('authority', { commonName })
  return {
    pair,
    client: ({ user, groups = [] }) => issue('client', { commonName: user, organizations: groups }, pair),
    server: (name, names) => issue('server', { commonName: name, names }, pair),
  }
}
