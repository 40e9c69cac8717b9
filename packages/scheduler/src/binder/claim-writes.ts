// SPDX-License-Identifier: Apache-2.0

// Allocates and reserves the resource claims of pods before the pods are bound, and takes this back when the binding fails.
//
// Promised: two claims never get the same device from this process, because an allocation counts from the moment of the
// decision. Every write names the resource version that it is based on.
// Not promised: that another scheduler does not allocate the same device to another claim. The API server does not check it.
import type { AllocationResult, ResourceClaim } from '@grove/api'
import { type Client, type Clock, isConflict, isNotFound, type Logger, type Stored } from '@grove/kube'
import type { ClaimAllocation, PodBinding } from '../types.ts'
import type { SchedulerCaches } from './caches.ts'
import { allocationOf, claimFinalizer, hasDevices, isReservedFor } from './claim-allocation.ts'
import { resources } from './resources.ts'

/** Attempts to take back an allocation, and the wait between two of them. */
const undoAttempts = 5
/** Also the wait after a write that the API server rejects, so that an attempt is not repeated at once. */
const retryMs = 1_000

export interface ClaimWritesOptions {
  readonly client: Client
  readonly caches: SchedulerCaches
  readonly clock: Clock
  readonly log: Logger
  /** An allocation that cannot be taken back counts for this time, or until the watch shows it. */
  readonly bindTimeoutMs: number
}

type Claim = Stored<ResourceClaim>

/** An allocation that the watch does not show yet. */
interface AssumedAllocation {
  readonly allocation: AllocationResult
  /** Monotonic. Undefined: until the watch shows it. */
  expiresAt?: number
}

/** A claim that an attempt uses. */
interface ClaimInUse {
  /** The claim as this process has written it last; undefined before the first write. */
  written: Claim | undefined
  /** UIDs of pods whose attempt is not over. */
  readonly pods: Set<string>
  /** Ends with the last write: writes to one claim follow each other. */
  queue: Promise<unknown>
}

export class ClaimWrites {
  readonly #options: ClaimWritesOptions
  readonly #inUse = new Map<string, ClaimInUse>()
  /** By UID of the claim. */
  readonly #assumed = new Map<string, AssumedAllocation>()

  constructor(options: ClaimWritesOptions) {
    this.#options = options
  }

  /** Counts the devices of the binding as in use from now on. */
  assume({ namespace, uid, node, claims = [] }: PodBinding): void {
    const { caches } = this.#options
    for (const { name, uid: claim, devices } of claims) {
      const known = this.#inUse.get(claim) ?? {
        written: undefined,
        pods: new Set(),
        queue: Promise.resolve(),
      }
      known.pods.add(uid)
      this.#inUse.set(claim, known)
      const cached = caches.resourceClaims.get({ namespace, name })
      if (!devices || !cached || this.#assumed.has(claim)) continue
      const classOf = (className: string) => caches.deviceClasses.get({ name: className })
      this.#assumed.set(claim, { allocation: allocationOf(cached, devices, node, classOf) })
    }
  }

  /** The claims with the allocations that the watch does not show yet. */
  current(claims: readonly Claim[]): readonly ResourceClaim[] {
    if (this.#assumed.size === 0) return claims
    const now = this.#options.clock.monotonic()
    for (const [uid, { expiresAt = now + 1 }] of this.#assumed)
      if (expiresAt <= now) this.#assumed.delete(uid)
    const left = new Set(this.#assumed.keys())
    const current = claims.map(claim => {
      const assumed = this.#assumed.get(claim.metadata.uid)
      if (!assumed || claim.status?.allocation) return claim
      left.delete(claim.metadata.uid)
      return { ...claim, status: { ...claim.status, allocation: assumed.allocation } }
    })
    // The watch shows the allocation, or the claim is gone.
    for (const uid of left) this.#assumed.delete(uid)
    return current
  }

  /** The next time at which an allocation no longer counts; monotonic. */
  nextExpiry(): number | undefined {
    const times = [...this.#assumed.values()].flatMap(({ expiresAt }) => expiresAt ?? [])
    return times.length ? Math.min(...times) : undefined
  }

  /** Allocates the claims of a pod and reserves them for it. Returns false if this is not possible. */
  async reserve(binding: PodBinding, signal: AbortSignal): Promise<boolean> {
    for (const claim of binding.claims ?? [])
      try {
        if (!(await this.#inTurn(claim.uid, () => this.#reserve(binding, claim, signal)))) return false
      } catch (error) {
        if (isConflict(error) || isNotFound(error)) return false
        const { clock, log } = this.#options
        const fields = { claim: `${binding.namespace}/${claim.name}`, pod: binding.pod }
        log.warn('Could not allocate a resource claim, trying again', { ...fields, error })
        await clock.sleep(retryMs, signal).catch(() => undefined)
        return false
      }
    return true
  }

  /** Ends the use of claims by a pod that is bound, or whose outcome is not known. */
  finish({ uid, claims = [] }: PodBinding): void {
    for (const claim of claims) {
      const known = this.#inUse.get(claim.uid)
      known?.pods.delete(uid)
      if (known?.pods.size === 0) this.#inUse.delete(claim.uid)
    }
  }

  /** Takes back the reservation for a pod that is not bound, and the allocation if no other pod uses it. */
  async undo(binding: PodBinding, signal: AbortSignal): Promise<void> {
    for (const claim of binding.claims ?? [])
      await this.#inTurn(claim.uid, () => this.#tryUndo(binding, claim, signal))
    this.finish(binding)
  }

  /** Gives back allocations that no running pod uses. */
  async deallocate(claims: readonly Claim[], signal: AbortSignal): Promise<void> {
    await Promise.all(
      claims.map(async claim => {
        const { namespace = '', name } = claim.metadata
        this.#options.log.info('Deallocating a resource claim of a gang that does not fit', {
          claim: `${namespace}/${name}`,
        })
        try {
          await this.#writeStatus(claim, { allocation: null, reservedFor: null }, signal)
        } catch (error) {
          if (!isConflict(error) && !isNotFound(error)) throw error
        }
      }),
    )
  }

  #inTurn<Result>(uid: string, write: () => Promise<Result>): Promise<Result> {
    const known = this.#inUse.get(uid)
    const result = (known?.queue ?? Promise.resolve()).then(write)
    if (known) known.queue = result.catch(() => undefined)
    return result
  }

  #latest({ namespace }: PodBinding, { name, uid }: ClaimAllocation): Claim | undefined {
    const claim =
      this.#inUse.get(uid)?.written ?? this.#options.caches.resourceClaims.get({ namespace, name })
    return claim?.metadata.uid === uid ? claim : undefined
  }

  async #reserve(binding: PodBinding, wanted: ClaimAllocation, signal: AbortSignal): Promise<boolean> {
    let claim = this.#latest(binding, wanted)
    if (!claim || claim.metadata.deletionTimestamp) return false
    const allocation = claim.status?.allocation ?? this.#assumed.get(wanted.uid)?.allocation
    if (!allocation || (wanted.devices && !hasDevices(allocation, wanted.devices))) return false
    // A claim of the cache may have been released since, so it is written even if it is reserved: the resource version of
    // the write proves that it is current.
    const isWritten = this.#inUse.get(wanted.uid)?.written === claim
    if (isWritten && claim.status?.allocation && isReservedFor(claim, binding.uid)) return true
    if (!claim.metadata.finalizers?.includes(claimFinalizer)) {
      const { resourceVersion, finalizers = [] } = claim.metadata
      claim = await this.#options.client.patch(
        resources.resourceClaims,
        claim.metadata,
        { merge: { metadata: { resourceVersion, finalizers: [...finalizers, claimFinalizer] } } },
        { signal },
      )
      this.#record(claim)
    }
    const consumer = { resource: 'pods', name: binding.pod, uid: binding.uid }
    const others = (claim.status?.reservedFor ?? []).filter(({ uid }) => uid !== binding.uid)
    this.#record(await this.#writeStatus(claim, { allocation, reservedFor: [...others, consumer] }, signal))
    return true
  }

  async #tryUndo(binding: PodBinding, wanted: ClaimAllocation, signal: AbortSignal): Promise<void> {
    const { clock, log, bindTimeoutMs } = this.#options
    for (let attempt = 1; attempt <= undoAttempts && !signal.aborted; attempt++)
      try {
        return await this.#undo(binding, wanted, signal)
      } catch (error) {
        const claim = `${binding.namespace}/${wanted.name}`
        log.info('Could not release a resource claim, trying again', { claim, error })
        await clock.sleep(retryMs, signal).catch(() => undefined)
      }
    // The claim may be allocated. The gang gives it back in a later cycle if it does not fit.
    const assumed = this.#assumed.get(wanted.uid)
    if (assumed) assumed.expiresAt = clock.monotonic() + bindTimeoutMs
  }

  /** Reads the claim first: a write may have arrived although its response was lost or was an error. */
  async #undo(binding: PodBinding, wanted: ClaimAllocation, signal: AbortSignal): Promise<void> {
    const { namespace } = binding
    const { name, uid } = wanted
    const found = await this.#options.client.find(resources.resourceClaims, { namespace, name }, { signal })
    const claim = found?.metadata.uid === uid ? found : undefined
    const others = (claim?.status?.reservedFor ?? []).filter(consumer => consumer.uid !== binding.uid)
    if (claim && isReservedFor(claim, binding.uid)) {
      // Only an allocation of this attempt is taken back: others have a reason that is not known here.
      const isUnused = others.length === 0 && wanted.devices
      const status = { reservedFor: others.length > 0 ? others : null, ...(isUnused && { allocation: null }) }
      this.#record(await this.#writeStatus(claim, status, signal))
    }
    const isWanted = [...(this.#inUse.get(uid)?.pods ?? [])].some(pod => pod !== binding.uid)
    if (others.length === 0 && !isWanted) this.#assumed.delete(uid)
  }

  #record(claim: Claim): void {
    const known = this.#inUse.get(claim.metadata.uid)
    if (known) known.written = claim
  }

  #writeStatus(
    { metadata }: Claim,
    status: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<Claim> {
    const { uid, resourceVersion } = metadata
    return this.#options.client.patch(
      resources.resourceClaims,
      metadata,
      { merge: { metadata: { uid, resourceVersion }, status } },
      { subresource: 'status', signal },
    )
  }
}
