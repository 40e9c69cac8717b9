// SPDX-License-Identifier: Apache-2.0

import type { KeyKind } from './issue.ts'

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

/** How certificates are made and when they are replaced. Names come from the program, times have defaults. */
export interface CertificatePolicy {
  /** The name of the authority: its common name and its only DNS name. */
  readonly authorityName: string
  readonly organization?: string
  /** Names of the server, the one that clients verify first. */
  readonly serverNames: readonly string[]
  readonly key: KeyKind
  readonly authorityLifetimeMs: number
  readonly serverLifetimeMs: number
  /** Whatever is not valid this far ahead is replaced. */
  readonly renewBeforeMs: number
  /** How far back certificates begin, for verifiers whose clocks are slow. */
  readonly backdateMs: number
  /** How long a new authority is published before a server certificate of it is served. */
  readonly settleMs: number
  /** How long after that an old authority stays published. */
  readonly overlapMs: number
}

export const defaultCertificateTimes = {
  authorityLifetimeMs: 3650 * day,
  serverLifetimeMs: 365 * day,
  renewBeforeMs: 90 * day,
  backdateMs: hour,
  // API servers learn of a changed webhook configuration within seconds; nothing urges.
  settleMs: 5 * minute,
  overlapMs: day,
}

export function certificatePolicy(
  names: Pick<CertificatePolicy, 'authorityName' | 'serverNames'> & Partial<CertificatePolicy>,
): CertificatePolicy {
  const policy: CertificatePolicy = { key: 'ecdsa-p256', ...defaultCertificateTimes, ...names }
  if (policy.serverNames.length === 0) throw new RangeError('a server certificate needs a name')
  // What is due for renewal the moment it is made would be made for ever.
  if (Math.min(policy.authorityLifetimeMs, policy.serverLifetimeMs) <= policy.renewBeforeMs)
    throw new RangeError('certificates must live longer than they are renewed before their end')
  return policy
}
