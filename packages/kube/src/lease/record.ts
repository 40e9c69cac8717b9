// SPDX-License-Identifier: Apache-2.0

// A coordination.k8s.io/v1 Lease for leader election, with the same fields as in client-go, so that both kinds of
// candidates can compete.
import type { KubeObject } from '../client/object.ts'
import { defineResource } from '../client/resource.ts'

export interface LeaseSpec {
  readonly holderIdentity?: string
  readonly leaseDurationSeconds?: number
  readonly acquireTime?: string
  readonly renewTime?: string
  readonly leaseTransitions?: number
}

export interface Lease extends KubeObject {
  readonly spec?: LeaseSpec
}

export const leases = defineResource<Lease>({
  group: 'coordination.k8s.io',
  version: 'v1',
  resource: 'leases',
  kind: 'Lease',
  namespaced: true,
})

/** The duration in a released lease. It has no meaning without a holder, but must not be zero. */
const releasedLeaseSeconds = 1

/** Formats the API's MicroTime: `2026-01-01T00:00:00.000000Z`. */
export function microTime(epochMs: number): string {
  const micros = Math.round((epochMs % 1) * 1000)
  return new Date(epochMs).toISOString().replace('Z', `${String(micros).padStart(3, '0')}Z`)
}

/** The holder takes the lease, or renews it. */
export function heldSpec(
  before: LeaseSpec | undefined,
  holder: { readonly identity: string; readonly leaseSeconds: number; readonly now: number },
): LeaseSpec {
  const time = microTime(holder.now)
  const renews = before?.holderIdentity === holder.identity
  return {
    ...before,
    holderIdentity: holder.identity,
    leaseDurationSeconds: holder.leaseSeconds,
    acquireTime: renews ? (before?.acquireTime ?? time) : time,
    renewTime: time,
    leaseTransitions: before ? (before.leaseTransitions ?? 0) + (renews ? 0 : 1) : 0,
  }
}

/** Releases the lease, so that the next candidate need not wait. */
export function releasedSpec(before: LeaseSpec | undefined, now: number): LeaseSpec {
  const time = microTime(now)
  return {
    ...before,
    holderIdentity: '',
    leaseDurationSeconds: releasedLeaseSeconds,
    acquireTime: time,
    renewTime: time,
    leaseTransitions: before?.leaseTransitions ?? 0,
  }
}
