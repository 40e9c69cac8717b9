// SPDX-License-Identifier: Apache-2.0

// Binds the pods of a gang. Attempts run concurrently with the scheduling loop, one at a time for each gang.
import {
  bindPod,
  type Client,
  type Clock,
  isConflict,
  isNotFound,
  type Logger,
  type ObjectRef,
} from '@grove/kube'
import type { AssumedPod, PodBinding } from '../types.ts'
import { AssumedPods } from './assumed-pods.ts'
import type { SchedulerCaches } from './caches.ts'
import { ClaimWrites } from './claim-writes.ts'
import { resources } from './resources.ts'
import type { Slots } from './slots.ts'
import { selectNode } from './volume-writes.ts'

/** Reads of a pod whose binding response was lost, and the wait between two reads. */
const outcomeAttempts = 5
const outcomeWaitMs = 1_000

export interface BindingAttemptsOptions {
  readonly client: Client
  readonly caches: SchedulerCaches
  readonly clock: Clock
  readonly log: Logger
  readonly slots: Slots
  /** A pod whose binding has no known outcome counts as bound for this time. */
  readonly bindTimeoutMs: number
  /** Called at the end of every attempt. */
  readonly onEnd: () => void
}

export class BindingAttempts {
  readonly #options: BindingAttemptsOptions
  readonly #assumed = new AssumedPods()
  readonly claims: ClaimWrites
  /** By namespace and name of the gang. */
  readonly #running = new Map<string, Promise<boolean>>()

  constructor(options: BindingAttemptsOptions) {
    this.#options = options
    this.claims = new ClaimWrites(options)
  }

  has(gang: string): boolean {
    return this.#running.has(gang)
  }

  /** Pods that count as bound although the watch does not show them on a node yet. */
  assumed(): readonly AssumedPod[] {
    const { caches, clock } = this.#options
    return this.#assumed.current(pod => caches.pods.get(pod), clock.monotonic())
  }

  isAssumed(uid: string): boolean {
    return this.#assumed.has(uid)
  }

  /** The API server has accepted the binding of the pod, and the watch does not show it yet. */
  isConfirmed(uid: string): boolean {
    return this.#assumed.isConfirmed(uid)
  }

  /** The attempt that runs for a gang. Resolves to true if all of its minimum is bound. */
  running(gang: string): Promise<boolean> | undefined {
    return this.#running.get(gang)
  }

  /** Time until a pod or an allocation without a known outcome no longer counts. */
  msUntilExpiry(): number | undefined {
    const times = [this.#assumed.nextExpiry(), this.claims.nextExpiry()].filter(time => time !== undefined)
    return times.length ? Math.max(0, Math.min(...times) - this.#options.clock.monotonic()) : undefined
  }

  /** Assumes the pods at once. Binds them after `record` has written that the attempt begins; without that, binds none. */
  begin(
    gang: string,
    bindings: readonly PodBinding[],
    record: () => Promise<boolean>,
    signal: AbortSignal,
  ): void {
    for (const binding of bindings) {
      this.#assumed.assume(binding)
      this.claims.assume(binding)
    }
    const attempt = this.#attempt(gang, bindings, record, signal)
      .catch(async error => {
        await this.#giveUp(bindings, signal)
        this.#options.log.warn('Could not begin to bind a gang, trying again', { gang, error })
        return false
      })
      .finally(() => {
        this.#running.delete(gang)
        this.#options.onEnd()
      })
    this.#running.set(gang, attempt)
  }

  /** Lets bindings that are in flight finish. */
  async stop(): Promise<void> {
    await Promise.all(this.#running.values())
  }

  async #attempt(
    gang: string,
    bindings: readonly PodBinding[],
    record: () => Promise<boolean>,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { log, slots } = this.#options
    if (!(await record())) {
      await this.#giveUp(bindings, signal)
      return false
    }
    // All claims come before the first binding, so that a claim that fails leaves no gang bound in part.
    const without = await this.#withoutClaims(bindings, signal)
    if (without.some(({ part }) => part === 'minimum')) {
      await this.#giveUp(bindings, signal)
      return false
    }
    await this.#giveUp(without, signal)
    let isEnded = false
    const bindOne = async (binding: PodBinding) => {
      if (isEnded || signal.aborted) return this.#giveUp([binding], signal)
      if (await this.#bind(binding, signal)) return this.claims.finish(binding)
      if (binding.part === 'minimum') isEnded = true
      // The claims of a pod that may be bound must stay.
      if (this.#assumed.has(binding.uid)) this.claims.finish(binding)
      else await this.claims.undo(binding, signal)
    }
    const ready = bindings.filter(binding => !without.includes(binding))
    await Promise.all(ready.map(binding => slots.run(() => bindOne(binding))))
    if (isEnded) log.warn('A binding of a gang failed; the gang is completed or released', { gang })
    return !isEnded && !signal.aborted
  }

  /** Writes the resource claims and the volume claims of all pods, and returns the bindings for which this failed. */
  async #withoutClaims(bindings: readonly PodBinding[], signal: AbortSignal): Promise<PodBinding[]> {
    const failed: PodBinding[] = []
    await Promise.all(
      bindings
        .filter(({ claims, volumeClaims }) => claims || volumeClaims)
        .map(binding =>
          this.#options.slots.run(async () => {
            const isReserved = await this.claims.reserve(binding, signal)
            if (!isReserved || !(await selectNode(binding, this.#options, signal))) failed.push(binding)
          }),
        ),
    )
    return failed
  }

  /** Forgets pods that are not bound, and takes back the allocation of their claims. */
  async #giveUp(bindings: readonly PodBinding[], signal: AbortSignal): Promise<void> {
    await Promise.all(bindings.map(binding => this.claims.undo(binding, signal)))
    for (const { uid } of bindings) this.#assumed.forget(uid)
  }

  /** Returns whether the pod is bound to the node. */
  async #bind({ namespace, pod: name, uid, node }: PodBinding, signal: AbortSignal): Promise<boolean> {
    const { client, clock, log, bindTimeoutMs } = this.#options
    try {
      await bindPod(client, { namespace, name }, node, { uid, signal })
      this.#assumed.confirm(uid)
      return true
    } catch (error) {
      const outcome = isNotFound(error)
        ? 'unbound'
        : await this.#outcome({ namespace, name }, uid, node, signal)
      if (outcome === 'bound') this.#assumed.confirm(uid)
      if (outcome === 'bound') return true
      if (outcome === 'unbound') this.#assumed.forget(uid)
      else this.#assumed.expire(uid, clock.monotonic() + bindTimeoutMs)
      if (!isNotFound(error) && !isConflict(error))
        log.warn('Could not bind a pod', { pod: `${namespace}/${name}`, node, outcome, error })
      return false
    }
  }

  /** Reads the outcome of a binding whose response was lost or was an error. */
  async #outcome(
    ref: ObjectRef,
    uid: string,
    node: string,
    signal: AbortSignal,
  ): Promise<'bound' | 'unbound' | 'unknown'> {
    const { client, clock } = this.#options
    for (let attempt = 1; attempt <= outcomeAttempts && !signal.aborted; attempt++)
      try {
        const pod = await client.find(resources.pods, ref, { signal })
        return pod?.metadata.uid === uid && pod.spec.nodeName === node ? 'bound' : 'unbound'
      } catch {
        // Aborted by the end of the process: the next leader reads the pod.
        await clock.sleep(outcomeWaitMs, signal).catch(() => undefined)
      }
    return 'unknown'
  }
}
