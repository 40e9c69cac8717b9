// SPDX-License-Identifier: Apache-2.0

// Decides about renewal. The decision is a pure function of the stored bundle and the time, so several processes come
// to the same result. A change of the authority takes three steps. After each step, clients that know the step before
// or after it can connect:
// - publish: the new authority is added in front of the old one; the server certificate stays;
// - move: after `propagationMs`, when clients know both, the server presents a certificate of the new authority;
// - retire: after `overlapMs` more, the old authority is no longer published.
// If the stored certificate does not work, everything is recreated at once. Other processes may still serve a
// certificate of the authority before, so published authorities stay published until they are retired.
import type { X509Certificate } from 'node:crypto'
import {
  authorityProblem,
  type CertificateBundle,
  isSignedBy,
  readCertificates,
  serverProblem,
  writeCertificates,
} from './bundle.ts'
import { issueAuthority, issueServer } from './issue.ts'
import type { CertificatePolicy } from './policy.ts'
import type { KeyPair } from './x509.ts'

export type CertificateDecision =
  /** No change needed, before `until` if given. */
  | { readonly kind: 'keep'; readonly until?: number }
  | { readonly kind: 'renew-all'; readonly why: string }
  | { readonly kind: 'publish-authority'; readonly why: string }
  | { readonly kind: 'renew-server'; readonly why: string }
  /** Like `renew-server`, under another authority. Only valid once that authority is published. */
  | { readonly kind: 'move-server'; readonly why: string }
  | { readonly kind: 'retire-authorities' }

export function decideRenewal(
  bundle: CertificateBundle,
  policy: CertificatePolicy,
  now: number,
): CertificateDecision {
  const authorities = readCertificates(bundle.authorityCerts)
  const [current] = authorities
  const [serverName = ''] = policy.serverNames
  const ahead = now + policy.renewBeforeMs
  const worksNow = serverProblem(bundle, authorities, serverName, now) === undefined
  const noAuthority = authorityProblem(current, bundle.authorityKey, policy.authorityName, ahead)
  if (!current || noAuthority)
    return { kind: worksNow ? 'publish-authority' : 'renew-all', why: noAuthority ?? 'no authority' }

  const problem = serverProblem(bundle, [current], serverName, ahead)
  if (problem) {
    const moves = readCertificates(bundle.serverCert).some(server => !isSignedBy(server, current))
    const publishedAt = propagatedAt(current, policy)
    if (!moves || !worksNow) return { kind: 'renew-server', why: problem }
    return now < publishedAt ? { kind: 'keep', until: publishedAt } : { kind: 'move-server', why: problem }
  }
  if (authorities.length === 1) return { kind: 'keep' }
  const retiredAt = propagatedAt(current, policy) + policy.overlapMs
  return now < retiredAt ? { kind: 'keep', until: retiredAt } : { kind: 'retire-authorities' }
}

/**
 * Decides about a certificate that another program issues. That program renews it, and would issue the next one after
 * each write of this process. So it is replaced only if it does not work, or shortly before it expires.
 */
export function decideTakeOver(
  bundle: CertificateBundle,
  policy: CertificatePolicy,
  now: number,
): CertificateDecision {
  // An own authority has to be published before the certificate expires.
  const neededMs = 2 * policy.propagationMs
  const [serverName = ''] = policy.serverNames
  const authorities = readCertificates(bundle.authorityCerts)
  if (serverProblem(bundle, authorities, serverName, now + neededMs))
    return decideRenewal(bundle, policy, now)
  const expiry = readCertificates(bundle.serverCert)[0]!.validToDate.getTime()
  return { kind: 'keep', until: expiry - neededMs }
}

/** From this time on every API server knows the authority. Certificates start `backdateMs` before their creation. */
export function propagatedAt(authority: X509Certificate, policy: CertificatePolicy): number {
  return authority.validFromDate.getTime() + policy.backdateMs + policy.propagationMs
}

/**
 * Applies a decision to the bundle; stores nothing. `trusted` are the authorities that the webhook configurations
 * publish now; only `renew-all` needs them.
 */
export async function carryOutRenewal(
  bundle: CertificateBundle,
  decision: CertificateDecision,
  policy: CertificatePolicy,
  now: number,
  trusted: readonly X509Certificate[] = [],
): Promise<CertificateBundle> {
  const published = readCertificates(bundle.authorityCerts)
  switch (decision.kind) {
    case 'keep':
      return bundle
    case 'retire-authorities':
      return { ...bundle, authorityCerts: writeCertificates(published.slice(0, 1)) }
    case 'publish-authority': {
      const authority = await newAuthority(policy, now)
      // Only the issuer of the served certificate has to stay. A self-signed certificate is its own.
      const [server] = readCertificates(bundle.serverCert)
      const needed = published.filter(
        one => server && (one.fingerprint256 === server.fingerprint256 || isSignedBy(server, one)),
      )
      return {
        ...bundle,
        authorityCerts: authority.cert + writeCertificates(needed),
        authorityKey: authority.key,
      }
    }
    case 'renew-server':
    case 'move-server':
      return withServer(bundle, { cert: String(published[0]), key: bundle.authorityKey }, policy, now)
    case 'renew-all': {
      const authority = await newAuthority(policy, now)
      const authorityCerts = authority.cert + writeCertificates(stillNeeded(trusted, policy, now))
      const recreated = { ...bundle, authorityCerts, authorityKey: authority.key }
      return withServer(recreated, authority, policy, now)
    }
  }
}

/** Enough for every replica to serve a certificate of another authority. Also bounds a bundle of any length. */
const maxAuthorities = 5

/**
 * Returns the published authorities that are still valid and have the authority name of the policy. Those of other
 * clients are not stored: `OtherAuthorities` keeps them published for a time.
 */
function stillNeeded(
  trusted: readonly X509Certificate[],
  policy: CertificatePolicy,
  now: number,
): X509Certificate[] {
  const own = trusted.filter(
    one => one.ca && one.checkHost(policy.authorityName) && now <= one.validToDate.getTime(),
  )
  const distinct = new Map(own.map(one => [one.fingerprint256, one]))
  return [...distinct.values()]
    .sort((a, b) => b.validFromDate.getTime() - a.validFromDate.getTime())
    .slice(0, maxAuthorities)
}

function newAuthority(policy: CertificatePolicy, now: number): Promise<KeyPair> {
  return issueAuthority({
    commonName: policy.authorityName,
    ...(policy.organization && { organizations: [policy.organization] }),
    names: [policy.authorityName],
    notBefore: now - policy.backdateMs,
    notAfter: now + policy.authorityLifetimeMs,
    key: policy.key,
  })
}

async function withServer(
  bundle: CertificateBundle,
  authority: KeyPair,
  policy: CertificatePolicy,
  now: number,
): Promise<CertificateBundle> {
  const server = await issueServer(
    {
      commonName: policy.serverNames[0] ?? '',
      names: policy.serverNames,
      notBefore: now - policy.backdateMs,
      notAfter: now + policy.serverLifetimeMs,
      key: policy.key,
    },
    authority,
  )
  return { ...bundle, serverCert: server.cert, serverKey: server.key }
}
