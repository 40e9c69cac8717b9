// SPDX-License-Identifier: Apache-2.0

// The effect of resource claims on placement: devices are resources of nodes and pods, and allocated claims pin pods to
// nodes.
import type { NodeSelector, Pod, ResourceClaim, ResourceClaimTemplate } from '@grove/api'
import { compareText, firstDifference } from '../order.ts'
import type {
  Amounts,
  DeviceClass,
  FreeDevice,
  MissingObject,
  PodClaim,
  PodNeeds,
  ResourceSlice,
} from '../types.ts'
import { type Device, deviceId, devicesOf } from './inventory.ts'
import { matches } from './matches.ts'
import { type ClaimUse, claimUse } from './pod-claims.ts'
import { type Query, type ReadClaim, readClaim } from './requests.ts'
import { type Selections, selectionsOf } from './selections.ts'

export interface DeviceObjects {
  readonly claims: ReadonlyMap<string, ResourceClaim>
  readonly templates: ReadonlyMap<string, ResourceClaimTemplate>
  readonly classes: ReadonlyMap<string, DeviceClass>
  readonly slices: readonly ResourceSlice[]
}

/** A pod that holds resources or waits for them, with its node if it has one. */
export interface ClaimingPod {
  readonly pod: Pod
  readonly node: string | undefined
}

export interface DeviceNeeds {
  readonly requests: Amounts
  readonly claimSelectors: readonly NodeSelector[]
  readonly sharedClaims: PodNeeds['sharedClaims']
  readonly missing: readonly MissingObject[]
  readonly unsupported: readonly string[]
  readonly claims: readonly PodClaim[]
}

/** The API server accepts at most this many pods in `status.reservedFor` of a claim. */
const mostConsumers = 256

/** Matches no node. */
const nowhere: NodeSelector = { nodeSelectorTerms: [] }

export class ClaimedDevices {
  /** Amounts of devices that each node offers, by the name of the node. */
  readonly offered: ReadonlyMap<string, Amounts>
  readonly free: ReadonlyMap<string, readonly FreeDevice[]>
  readonly #objects: DeviceObjects
  readonly #uses = new Map<Pod, ClaimUse>()
  /** Pods of each claim. */
  readonly #users = new Map<string, ClaimingPod[]>()
  readonly #read = new Map<string, ReadClaim>()
  readonly #numbers = new Map<string, number>()
  readonly #selections: Selections
  readonly #problems: readonly (string | undefined)[]
  /** Amounts of devices that each claim holds. */
  readonly #held = new Map<string, Amounts>()

  constructor(objects: DeviceObjects, pods: readonly ClaimingPod[]) {
    this.#objects = objects
    for (const one of pods) {
      const use = claimUse(one.pod, objects.claims, objects.templates)
      this.#uses.set(one.pod, use)
      for (const key of use.claims) this.#users.set(key, [...(this.#users.get(key) ?? []), one])
    }
    const queries = this.#queries()
    const devices = devicesOf(objects.slices)
    const selected = selectDevices(queries, devices)
    this.#problems = selected.problems
    this.#selections = selectionsOf(queries, selected.signatures)
    const inUse = this.#holdDevices(selected.byId)
    const offered = new Map<string, Record<string, number>>()
    const free = new Map<string, FreeDevice[]>()
    for (const [id, { device, selections }] of selected.byId) {
      const holder = inUse.get(id)
      const amounts = offered.get(device.node) ?? {}
      offered.set(device.node, amounts)
      // Devices of one running pod are free without it. All others are in use, whatever pods do.
      if (!holder || this.#soleUser(holder)?.node !== undefined)
        for (const name of this.#selections.offered(selections)) amounts[name] = (amounts[name] ?? 0) + 1
      if (holder) continue
      const { driver, pool, name } = device
      free.set(device.node, [...(free.get(device.node) ?? []), { driver, pool, name, selections }])
    }
    this.offered = offered
    this.free = free
    for (const own of free.values()) own.sort(byPreference)
  }

  /** Reads the claims that are not allocated, and returns what they ask for in canonical order. */
  #queries(): Query[] {
    const queries = new Map<string, Query>()
    for (const key of this.#users.keys()) {
      const claim = this.#objects.claims.get(key)!
      const read = readClaim(claim, this.#objects.classes)
      this.#read.set(key, read)
      if (!claim.status?.allocation) for (const { query } of read.requests) queries.set(query.key, query)
    }
    const sorted = [...queries.values()].sort((left, right) => compareText(left.key, right.key))
    sorted.forEach(({ key }, number) => {
      this.#numbers.set(key, number)
    })
    return sorted
  }

  /** Records the devices of allocated claims, and returns the claim that holds each of them. */
  #holdDevices(byId: ReadonlyMap<string, SelectedDevice>): Map<string, string> {
    const holders = new Map<string, string>()
    for (const [key, { status }] of this.#objects.claims) {
      const amounts: Record<string, number> = {}
      for (const result of status?.allocation?.devices?.results ?? []) {
        // A request with admin access uses a device without holding it.
        if (result.adminAccess) continue
        const id = deviceId(result)
        holders.set(id, key)
        for (const name of this.#selections.offered(byId.get(id)?.selections ?? []))
          amounts[name] = (amounts[name] ?? 0) + 1
      }
      this.#held.set(key, amounts)
    }
    return holders
  }

  /** The pod that alone holds an allocated claim: the claim is deallocated when the pod is gone. */
  #soleUser(key: string): ClaimingPod | undefined {
    const consumers = this.#objects.claims.get(key)?.status?.reservedFor ?? []
    const users = this.#users.get(key) ?? []
    const [only] = users
    if (consumers.length > 1 || users.length !== 1 || !only) return undefined
    return consumers.every(({ uid }) => uid === only.pod.metadata.uid) ? only : undefined
  }

  /** `pod` is one of the pods that the constructor has received. */
  needsOf(pod: Pod, node: string | undefined): DeviceNeeds {
    const use = this.#uses.get(pod)!
    const requests: Record<string, number> = {}
    const claimSelectors: NodeSelector[] = []
    const sharedClaims: { name: string; devices: Amounts }[] = []
    const missing = [...use.missing]
    const unsupported = [...use.unsupported]
    const claims: PodClaim[] = []
    for (const key of use.claims) {
      const claim = this.#objects.claims.get(key)!
      const { allocation, reservedFor = [] } = claim.status ?? {}
      const read = this.#read.get(key)!
      claims.push({
        name: claim.metadata.name,
        uid: claim.metadata.uid ?? '',
        isAllocated: allocation !== undefined,
        classes: read.classes,
        requests: allocation ? [] : this.#requestsOf(read),
      })
      if (allocation) {
        if (node !== undefined) {
          if (this.#soleUser(key)?.pod === pod) add(requests, this.#held.get(key) ?? {})
          continue
        }
        if (allocation.devices?.results?.some(({ bindingConditions }) => bindingConditions?.length))
          unsupported.push('status.allocation.devices.results[].bindingConditions of ResourceClaims')
        if (allocation.nodeSelector) claimSelectors.push(allocation.nodeSelector)
        const isReserved = reservedFor.some(({ uid }) => uid === pod.metadata.uid)
        if (!isReserved && reservedFor.length >= mostConsumers) claimSelectors.push(nowhere)
        continue
      }
      missing.push(...read.missing)
      unsupported.push(...read.unsupported, ...this.#problemsOf(read))
      const bound = this.#users.get(key)!.filter(user => user.node !== undefined)
      // The claims of a bound pod are allocated; the watch does not show it yet. Its devices are not known until then.
      if (node === undefined && bound.length > 0) claimSelectors.push(nowhere)
      else if (node !== undefined ? bound[0]?.pod === pod : this.#users.get(key)!.length === 1)
        add(requests, this.#amountsOf(read))
      else if (node === undefined) sharedClaims.push({ name: key, devices: this.#amountsOf(read) })
    }
    return { requests, claimSelectors, sharedClaims, missing, unsupported, claims }
  }

  #requestsOf({ requests }: ReadClaim): PodClaim['requests'] {
    return requests.map(({ name, query, count }) => ({
      name,
      selection: this.#numbers.get(query.key)!,
      count,
    }))
  }

  #amountsOf({ requests }: ReadClaim): Amounts {
    const amounts: Record<string, number> = {}
    for (const { query, count } of requests)
      for (const name of this.#selections.asked[this.#numbers.get(query.key)!]!)
        amounts[name] = (amounts[name] ?? 0) + count
    return amounts
  }

  #problemsOf({ requests }: ReadClaim): string[] {
    return requests.flatMap(({ query }) => {
      const number = this.#numbers.get(query.key)!
      const problem = this.#problems[number]
      if (problem) return [problem]
      return this.#selections.isTooComplex[number] ? ['device selectors that overlap in too many ways'] : []
    })
  }
}

interface SelectedDevice {
  readonly device: Device
  readonly selections: readonly number[]
}

/** Devices by the queries that select them, and why a query cannot be evaluated. */
function selectDevices(
  queries: readonly Query[],
  devices: readonly Device[],
): {
  readonly byId: ReadonlyMap<string, SelectedDevice>
  readonly signatures: readonly (readonly number[])[]
  readonly problems: readonly (string | undefined)[]
} {
  const problems: (string | undefined)[] = queries.map(() => undefined)
  const byId = new Map<string, SelectedDevice>()
  const signatures = new Map<string, readonly number[]>()
  for (const device of devices) {
    const selections: number[] = []
    queries.forEach((query, number) => {
      const result = matches(query, device)
      if (typeof result === 'string') problems[number] ??= result
      else if (result && device.unsupported) problems[number] ??= device.unsupported
      else if (result) selections.push(number)
    })
    if (selections.length === 0) continue
    byId.set(device.id, { device, selections })
    signatures.set(selections.join(), selections)
  }
  return { byId, signatures: [...signatures.values()], problems }
}

/** Devices that fewer requests can use come first, so that flexible ones are left for later pods. */
function byPreference(left: FreeDevice, right: FreeDevice): number {
  return firstDifference(
    left.selections.length - right.selections.length,
    compareText(left.driver, right.driver),
    compareText(left.pool, right.pool),
    compareText(left.name, right.name),
  )
}

function add(target: Record<string, number>, amounts: Amounts): void {
  for (const [name, amount] of Object.entries(amounts)) target[name] = (target[name] ?? 0) + amount
}
