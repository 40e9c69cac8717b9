// SPDX-License-Identifier: Apache-2.0

// The certificate authority of one cluster, and certificates for its servers and clients: ECDSA P-256, valid for a
// year. It renews and stores nothing; CertificateProvisioner does that.
import { generateKeyPairSync } from 'node:crypto'
import { type CertificateUse, certify, type KeyPair } from './x509.ts'

/**
 * The subject of a client certificate. Kubernetes reads the common name as the user and every organization as a
 * group.
 */
export interface ClientIdentity {
  readonly user: string
  readonly groups?: readonly string[]
}

export interface ClusterAuthority {
  readonly pair: KeyPair
  client(identity: ClientIdentity): KeyPair
  /** Issues a certificate for these DNS names and IP addresses. */
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
    // Backdated by an hour, so that a client whose clock is slow accepts a new certificate.
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
