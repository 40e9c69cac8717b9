// SPDX-License-Identifier: Apache-2.0

import { isConflict, type Stored } from '@grove/kube'
import type { Filter, NodeCheck, Rejection } from '../../scheduling/filter.ts'
import type { NodeState } from '../../scheduling/node-state.ts'
import type { PodInfo } from '../../scheduling/pod-info.ts'
import type { SchedulingExtension } from '../../scheduling/scheduling-extension.ts'
import type { ResourceDeviceRequestAllocationResult } from '../../schema/types.generated.ts'
import {
  deviceClasses,
  type Pod,
  type ResourceClaim,
  type ResourceSlice,
  resourceClaims,
  resourceSlices,
} from '../kinds.ts'
import type { Runtime } from '../runtime.ts'
import { timestamp } from '../timestamp.ts'
import { claimsOf } from './claim-names.ts'
import { chooseDevices, maximumConsumers, resultKey, selectorFor, selects } from './device-ledger.ts'

/** Prevents the deletion of a claim that is in use. */
export const claimFinalizer = 'resource.kubernetes.io/delete-protection'

/** Another controller may change a claim at the same time, and the cache may be behind. */
const maximumAttempts = 5

const reject = (reason: string): Rejection => ({
  filter: 'DynamicResources',
  reasons: [reason],
  resolvable: false,
})
const noDevices = reject('cannot allocate all claims')
const elsewhere = reject('resourceclaim not available on the node')
const inUse = reject('resourceclaim in use')
const missing = reject('resourceclaim does not exist')
const terminating = reject('resourceclaim is being deleted')

/** The devices of each claim, by UID. */
type Plan = ReadonlyMap<string, readonly ResourceDeviceRequestAllocationResult[]>

interface Reservation {
  readonly plan: Plan
  readonly node: NodeState
}

/** Chooses devices for the claims of pods and writes the allocations. */
export class DeviceScheduling implements SchedulingExtension {
  readonly #runtime: Runtime
  /** Reservations that are not written yet, by pod. */
  readonly #reserved = new Map<string, Reservation>()
  /** The last write of each claim, by UID. */
  readonly #writes = new Map<string, Promise<void>>()

  constructor(runtime: Runtime) {
    this.#runtime = runtime
    runtime.caches.require(resourceClaims, resourceSlices, deviceClasses)
  }

  readonly filter: Filter = {
    name: 'DynamicResources',
    prepare: pod => (pod.pod.spec?.resourceClaims?.length ? this.#check(pod) : undefined),
  }

  holds(pod: Stored<Pod>): boolean {
    return claimsOf(pod).some(({ claim }) => {
      const found = claim === undefined ? undefined : this.#claim(pod, claim)
      return !found || found.metadata.deletionTimestamp !== undefined
    })
  }

  reserve(pod: PodInfo, node: NodeState): void {
    const plan = pod.pod.spec?.resourceClaims?.length && this.#plan(pod, node)
    if (plan) this.#reserved.set(pod.key, { plan, node })
  }

  release(pod: PodInfo): void {
    this.#reserved.delete(pod.key)
  }

  async preBind(pod: PodInfo, node: NodeState): Promise<void> {
    if (!pod.pod.spec?.resourceClaims?.length) return
    const plan = this.#reserved.get(pod.key)?.plan
    for (const claim of this.#claimsOf(pod))
      await this.#afterOthers(claim, () => this.#write(claim, pod, node, plan?.get(claim.metadata.uid)))
    this.#reserved.delete(pod.key)
  }

  #check(pod: PodInfo): NodeCheck {
    const claims = this.#claimsOf(pod)
    if (claims.length < claimsOf(pod.pod).length) return () => missing
    if (claims.some(({ metadata }) => metadata.deletionTimestamp)) return () => terminating
    const isFull = claims.some(
      ({ status }) =>
        (status?.reservedFor?.length ?? 0) >= maximumConsumers &&
        !status?.reservedFor?.some(({ uid }) => uid === uidOf(pod)),
    )
    if (isFull) return () => inUse
    return node => {
      for (const { status } of claims)
        if (status?.allocation?.nodeSelector && !selects(status.allocation.nodeSelector, node))
          return elsewhere
      return this.#plan(pod, node) ? undefined : noDevices
    }
  }

  /** Chooses devices for the claims that are not allocated yet. */
  #plan(pod: PodInfo, node: NodeState): Plan | undefined {
    const { caches } = this.#runtime
    const plan = new Map<string, readonly ResourceDeviceRequestAllocationResult[]>()
    const taken = this.#takenDevices()
    for (const claim of this.#claimsOf(pod)) {
      if (claim.status?.allocation) continue
      const reservation = this.#reservationOf(claim)
      const chosen = reservation
        ? usableOn(node, reservation.results, reservation.node, caches.of(resourceSlices).list())
        : chooseDevices(
            claim,
            node,
            caches.of(resourceSlices).list(),
            name => caches.of(deviceClasses).get({ name }),
            device => taken.has(device),
          )
      if (!chosen) return undefined
      for (const result of chosen) taken.add(resultKey(result))
      plan.set(claim.metadata.uid, chosen)
    }
    return plan
  }

  /** The devices that another pod is about to allocate to a claim that both share. */
  #reservationOf({ metadata: { uid } }: Stored<ResourceClaim>) {
    for (const { plan, node } of this.#reserved.values()) {
      const results = plan.get(uid)
      if (results) return { results, node }
    }
    return undefined
  }

  #takenDevices(): Set<string> {
    const taken = new Set<string>()
    for (const { status } of this.#runtime.caches.of(resourceClaims).list())
      for (const result of status?.allocation?.devices?.results ?? []) taken.add(resultKey(result))
    for (const { plan } of this.#reserved.values())
      for (const results of plan.values()) for (const result of results) taken.add(resultKey(result))
    return taken
  }

  /** Writes a claim after the writes for other pods that share it: each write extends the same list. */
  async #afterOthers(
    { metadata: { uid } }: Stored<ResourceClaim>,
    write: () => Promise<void>,
  ): Promise<void> {
    const own = (this.#writes.get(uid) ?? Promise.resolve()).then(write)
    const ended = own.catch(() => undefined)
    this.#writes.set(uid, ended)
    await ended
    if (this.#writes.get(uid) === ended) this.#writes.delete(uid)
    await own
  }

  async #write(
    claim: Stored<ResourceClaim>,
    pod: PodInfo,
    node: NodeState,
    results: readonly ResourceDeviceRequestAllocationResult[] | undefined,
  ): Promise<void> {
    let live = claim
    for (let attempt = 1; ; attempt++)
      try {
        return await this.#allocate(live, pod, node, results)
      } catch (error) {
        if (!isConflict(error) || attempt === maximumAttempts) throw error
        const newest = await this.#runtime.client.find(resourceClaims, claim.metadata)
        const selector = newest?.status?.allocation?.nodeSelector
        if (newest?.metadata.uid !== claim.metadata.uid || (selector && !selects(selector, node))) throw error
        live = newest
      }
  }

  async #allocate(
    claim: Stored<ResourceClaim>,
    pod: PodInfo,
    node: NodeState,
    results: readonly ResourceDeviceRequestAllocationResult[] | undefined,
  ): Promise<void> {
    const { client, caches, clock } = this.#runtime
    let live = claim
    if (!live.metadata.finalizers?.includes(claimFinalizer)) {
      const finalizers = [...(live.metadata.finalizers ?? []), claimFinalizer]
      const { resourceVersion } = live.metadata
      live = await client.patch(resourceClaims, live.metadata, {
        merge: { metadata: { resourceVersion, finalizers } },
      })
    }
    const reservedFor = live.status?.reservedFor ?? []
    const isReserved = reservedFor.some(({ uid }) => uid === uidOf(pod))
    if (live.status?.allocation && isReserved) return
    const slices = caches.of(resourceSlices).list()
    const allocation = live.status?.allocation ?? {
      devices: { results: [...(results ?? [])] },
      nodeSelector: selectorFor(results ?? [], node, slices),
      allocationTimestamp: timestamp(clock.now()),
    }
    const consumer = { resource: 'pods', name: pod.pod.metadata?.name ?? '', uid: uidOf(pod) }
    const status = { allocation, reservedFor: isReserved ? reservedFor : [...reservedFor, consumer] }
    const { resourceVersion } = live.metadata
    await client.patch(
      resourceClaims,
      live.metadata,
      { merge: { metadata: { resourceVersion }, status } },
      { subresource: 'status' },
    )
  }

  #claimsOf(pod: PodInfo): Stored<ResourceClaim>[] {
    return claimsOf(pod.pod)
      .map(({ claim }) => this.#claim(pod.pod, claim ?? ''))
      .filter(claim => claim !== undefined)
  }

  #claim(pod: Pod, name: string): Stored<ResourceClaim> | undefined {
    return this.#runtime.caches.of(resourceClaims).get({ namespace: pod.metadata?.namespace, name })
  }
}

/** Returns the devices of one node if another node can use them too. */
function usableOn(
  node: NodeState,
  results: readonly ResourceDeviceRequestAllocationResult[],
  chosenFor: NodeState,
  slices: Iterable<ResourceSlice>,
): readonly ResourceDeviceRequestAllocationResult[] | undefined {
  const selector = selectorFor(results, chosenFor, slices)
  return !selector || selects(selector, node) ? results : undefined
}

function uidOf({ pod }: PodInfo): string {
  return pod.metadata?.uid ?? ''
}
