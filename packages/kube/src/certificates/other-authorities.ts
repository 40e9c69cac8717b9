// SPDX-License-Identifier: Apache-2.0

// Certificates that another client added to the `caBundle` of a webhook configuration. While a release changes between
// manual and automatic certificates, replicas of both modes serve, and API servers need the authorities of both.
// Promised: such a certificate stays for `overlapMs` after this process has first seen it, unless another client
// removes it. Not promised: more than `maxOthers` of them, certificates that have expired, and older authorities of
// the policy's own name, which the decision about renewal retires.
import type { X509Certificate } from 'node:crypto'
import type { CertificatePolicy } from './policy.ts'

/** Bounds a bundle of any length. */
const maxOthers = 5

export class OtherAuthorities {
  readonly #policy: Pick<CertificatePolicy, 'authorityName' | 'overlapMs'>
  /** The end of the overlap of each certificate that the last check has seen, by fingerprint. */
  #deadlines = new Map<string, number>()

  constructor(policy: Pick<CertificatePolicy, 'authorityName' | 'overlapMs'>) {
    this.#policy = policy
  }

  /** Returns the filter for the bundles of one check. A certificate that no bundle contains any more is forgotten. */
  startCheck(
    own: readonly X509Certificate[],
    now: number,
  ): (present: readonly X509Certificate[]) => X509Certificate[] {
    const before = this.#deadlines
    const deadlines = new Map<string, number>()
    this.#deadlines = deadlines
    const ownFingerprints = new Set(own.map(({ fingerprint256 }) => fingerprint256))
    const isOther = (one: X509Certificate) =>
      !ownFingerprints.has(one.fingerprint256) && !one.checkHost(this.#policy.authorityName)
    return present => {
      const others = new Map(present.filter(isOther).map(one => [one.fingerprint256, one]))
      for (const fingerprint of others.keys())
        deadlines.set(fingerprint, before.get(fingerprint) ?? now + this.#policy.overlapMs)
      return [...others.values()]
        .filter(one => now < deadlines.get(one.fingerprint256)! && now <= one.validToDate.getTime())
        .slice(0, maxOthers)
    }
  }

  /** Returns the times at which a certificate is to be removed. */
  deadlines(): number[] {
    return [...this.#deadlines.values()]
  }
}
