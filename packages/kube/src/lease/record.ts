// SPDX-License-Identifier: Apache-2.0

// A coordination.k8s.io/v1 Lease as leader elections use it, field for field what client-go writes, so that its
// candidates and ours stand in one election.
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

/** What a released lease says it lasts: as long as nobody holds it the value means nothing, but must not be zero. */
const releasedLeaseSeconds = 1

/** The time as the API's MicroTime: `2026-01-01T00:00:00.000000Z`. */
export function microTime(epochMs: number): string {
  const micros = Math.round((epochMs % 1) * 1000)
  return new Date(epochMs).toISOString().replace('Z', `${String(micros).padStart(3, '0')}Z`)
}

/** The holder takes the lease, or goes on holding it. */
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

/** Nobody holds the lease: whoever comes next need not wait. */
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
