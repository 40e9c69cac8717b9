// SPDX-License-Identifier: Apache-2.0

import type { KeyKind } from './issue.ts'

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

/** Names and times of certificates. The program sets the names; times have defaults. */
export interface CertificatePolicy {
  /** The name of the authority: its common name and its only DNS name. */
  readonly authorityName: string
  readonly organization?: string
  /** Names of the server; the first is the one that clients verify. */
  readonly serverNames: readonly string[]
  readonly key: KeyKind
  readonly authorityLifetimeMs: number
  readonly serverLifetimeMs: number
  /** Certificates that expire within this time are replaced. */
  readonly renewBeforeMs: number
  /** Certificates start this long before their creation, for verifiers whose clocks are slow. */
  readonly backdateMs: number
  /** Time from the publication of a new authority until the server presents a certificate of it. */
  readonly propagationMs: number
  /** Time after that until the old authority is no longer published. */
  readonly overlapMs: number
}

const defaultCertificateTimes = {
  authorityLifetimeMs: 3650 * day,
  serverLifetimeMs: 365 * day,
  renewBeforeMs: 90 * day,
  backdateMs: hour,
  // API servers see a changed webhook configuration within seconds. A longer wait costs nothing.
  propagationMs: 5 * minute,
  overlapMs: day,
}

export function certificatePolicy(
  names: Pick<CertificatePolicy, 'authorityName' | 'serverNames'> & Partial<CertificatePolicy>,
): CertificatePolicy {
  const policy: CertificatePolicy = { key: 'ecdsa-p256', ...defaultCertificateTimes, ...names }
  if (policy.serverNames.length === 0) throw new RangeError('a server certificate needs a name')
  // A certificate that is due for renewal at its creation would be renewed continuously.
  if (Math.min(policy.authorityLifetimeMs, policy.serverLifetimeMs) <= policy.renewBeforeMs)
    throw new RangeError('the lifetime of certificates must be longer than renewBefore')
  return policy
}
