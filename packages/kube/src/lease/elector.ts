// SPDX-License-Identifier: Apache-2.0

// Leader election by a Lease, compatible with candidates that use client-go. No clock of another machine is trusted.
// A candidate takes the lease only after it has seen no change of the record for the whole lease duration, on its own
// monotonic clock. The holder stops (leadership.ts) well before that.
// Promised: at most one leader. A killed leader is replaced after the lease duration, a stopped one at once. A leader
// that got no CPU for longer than its renew deadline writes nothing until it has renewed. It loses leadership only if
// another candidate was faster or it cannot renew soon.
// Not promised: a leader at all times, nor anything if the Lease is deleted while a process starts that never saw it.
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import type { Clock, Timer } from '../clock/index.ts'
import { type Logger, messageOf, silentLogger } from '../log/index.ts'
import type { Registry } from '../metrics/index.ts'
import { type Leadership, LeadershipFence } from './leadership.ts'
import type { LeaseClient } from './lease-client.ts'
import { type LeaseMetrics, leaseMetrics } from './metrics.ts'
import { heldSpec, type Lease, type LeaseSpec, releasedSpec } from './record.ts'
import { candidateJitter, checkTimes, defaultLeaseTimes, type LeaseTimes } from './times.ts'

const minRequestTimeoutMs = 1_000
/** A timer that fires this late means that this process was slow, not the API. */
const stalledFromMs = 1_000

export interface LeaseElectorOptions {
  readonly namespace: string
  readonly name: string
  readonly client: LeaseClient
  readonly clock: Clock
  readonly identity?: string
  readonly times?: LeaseTimes
  readonly log?: Logger
  readonly registry?: Registry
  readonly random?: () => number
}

export class LeaseElector {
  readonly #options: LeaseElectorOptions
  readonly #clock: Clock
  readonly #times: LeaseTimes
  readonly #log: Logger
  readonly #fence: LeadershipFence
  readonly #metrics: LeaseMetrics | undefined
  /** The newest record seen, and when (monotonic, after the response) it was first seen. */
  #observed: { readonly lease: Lease; readonly at: number } | undefined
  #reportedHolder: string | undefined
  #giveUp: Timer | undefined
  /** Since the last renewal: the delay of a timer, whether the deadline was extended for it, and the last failure. */
  #stalledMs = 0
  /** Latest time (monotonic) at which the current sleep or request should be over. */
  #due = Number.POSITIVE_INFINITY
  #isExtended = false
  #failure: unknown
  #renewing: Promise<void> | undefined
  readonly #ending = new AbortController()

  constructor(options: LeaseElectorOptions) {
    this.#options = options
    this.#clock = options.clock
    this.#times = options.times ?? defaultLeaseTimes
    checkTimes(this.#times)
    const identity = options.identity ?? `${hostname()}_${randomUUID()}`
    this.#log = (options.log ?? silentLogger).child({
      lease: `${options.namespace}/${options.name}`,
      identity,
    })
    this.#fence = new LeadershipFence(identity, options.clock, this.#times.renewDeadlineMs)
    this.#metrics = options.registry && leaseMetrics(options.registry, options.name)
  }

  /** Exists before the election; not held until the election is won. */
  get leadership(): Leadership {
    return this.#fence
  }

  /** Waits until this process leads. From then on renews in the background until `release` or loss. */
  async acquire(signal: AbortSignal): Promise<Leadership> {
    this.#log.info('Waiting to acquire the lease')
    while (!(await this.#attempt(signal)) || !this.#fence.isHeld()) {
      this.#fence.signal.throwIfAborted()
      const wait = this.#times.retryPeriodMs * (1 + candidateJitter * (this.#options.random ?? Math.random)())
      await this.#clock.sleep(wait, signal)
    }
    this.#log.info('Acquired the lease, this process is the leader')
    this.#metrics?.leads(true)
    this.#renewing = this.#renew()
    return this.#fence
  }

  /**
   * Gives up leadership. With `handOver`, frees the lease for others at once; allowed only if this process can no
   * longer write. Without it, the lease expires. Never rejects.
   */
  async release({ handOver }: { readonly handOver: boolean }): Promise<void> {
    const held = this.#fence.isHeld()
    this.#end('the lease was released')
    await this.#renewing
    if (!held || !handOver) return
    try {
      await this.#timed(new AbortController().signal, signal => this.#free(signal))
      this.#log.info('Released the lease')
    } catch (error) {
      this.#log.warn('Failed to release the lease; it will expire', { error })
    }
  }

  async #renew(): Promise<void> {
    const ending = this.#ending.signal
    this.#stalledMs = 0
    this.#armGiveUp()
    let begun = this.#clock.monotonic()
    while (!ending.aborted) {
      // The deadline counts from the start of a renewal, and so does the period: a slow response must not take away
      // the time for the next attempt.
      const wait = Math.max(0, begun + this.#times.retryPeriodMs - this.#clock.monotonic())
      this.#due = this.#clock.monotonic() + wait
      try {
        await this.#clock.sleep(wait, ending)
      } catch {
        return
      }
      this.#recordStall(this.#due)
      begun = this.#clock.monotonic()
      if (await this.#attempt(ending)) this.#wasRenewed()
    }
  }

  #wasRenewed(): void {
    // The response came too late. #giveUp decides whether this process was slow.
    if (this.#fence.monotonicRemainingMs() <= 0) return
    if (this.#isExtended) this.#log.info('Renewed the lease, this process is the leader again')
    this.#stalledMs = 0
    this.#isExtended = false
    this.#failure = undefined
    this.#armGiveUp()
  }

  #recordStall(due: number): void {
    this.#stalledMs = Math.max(this.#stalledMs, Math.round(this.#clock.monotonic() - due))
  }

  /** A hanging request or sleep must not delay the loss of leadership. */
  #armGiveUp(): void {
    this.#giveUp?.cancel()
    if (this.#ending.signal.aborted) return
    const inMs = Math.max(1, Math.ceil(this.#fence.monotonicRemainingMs()))
    const due = this.#clock.monotonic() + inMs
    this.#giveUp = this.#clock.setTimeout(() => {
      // Other timers or responses that are due may follow this one.
      this.#recordStall(Math.min(due, this.#due))
      if (this.#fence.monotonicRemainingMs() > 0) this.#armGiveUp()
      else if (this.#stalledMs >= stalledFromMs && !this.#isExtended) this.#extendDeadline()
      else this.#end(this.#whyLost())
    }, inMs)
  }

  /** The fence is already closed. Only a renewal can show whether the lease is still held. */
  #extendDeadline(): void {
    this.#isExtended = true
    const { leaseDurationMs, renewDeadlineMs } = this.#times
    this.#log.warn('This process got no CPU time; it stops writing until the lease is renewed', {
      stalledMs: this.#stalledMs,
      hint: 'it needs more CPU, or leaderElection.leaseDuration and renewDeadline that are longer',
    })
    this.#giveUp = this.#clock.setTimeout(() => this.#end(this.#whyLost()), leaseDurationMs - renewDeadlineMs)
  }

  #whyLost(): string {
    const why = [`the lease was not renewed within ${this.#times.renewDeadlineMs} ms`]
    if (this.#stalledMs >= stalledFromMs) why.push(`the process got no CPU time for ${this.#stalledMs} ms`)
    if (this.#failure !== undefined) why.push(`the last attempt failed: ${messageOf(this.#failure)}`)
    return why.join('; ')
  }

  #end(why: string): void {
    const led = this.#renewing !== undefined && !this.#ending.signal.aborted
    this.#giveUp?.cancel()
    this.#fence.lose(why)
    this.#ending.abort()
    if (!led) return
    this.#log.info('This process is no longer the leader', { why })
    this.#metrics?.leads(false)
  }

  /** Tries once to take or renew the lease. Returns true on success. */
  async #attempt(signal: AbortSignal): Promise<boolean> {
    try {
      return await this.#timed(signal, timed => this.#takeOrRenew(timed))
    } catch (error) {
      this.#failure = error
      if (!signal.aborted) this.#log.warn('Failed to read or write the lease', { error })
      return false
    }
  }

  async #takeOrRenew(signal: AbortSignal): Promise<boolean> {
    const known = this.#observed?.lease
    // The leader knows the record; it reads again only after another client wrote it.
    if (known && this.#holds(known) && this.#fence.isHeld()) {
      if (await this.#write(known, signal)) return true
      this.#metrics?.slowPath()
    }
    const lease = await this.#options.client.read(signal)
    if (lease) this.#observe(lease)
    if (this.#renewing && lease && !this.#holds(lease)) {
      this.#end(`the lease is held by ${lease.spec?.holderIdentity || 'no process'}`)
      return false
    }
    if (this.#isTaken(lease)) return false
    return this.#write(lease, signal)
  }

  /** Another candidate holds the lease, or held it when it was deleted, and the lease duration is not over. */
  #isTaken(lease: Lease | undefined): boolean {
    const { lease: last, at } = this.#observed ?? {}
    if (!last || at === undefined) return false
    const { holderIdentity = '', leaseDurationSeconds = 0 } = (lease ?? last).spec ?? {}
    if (holderIdentity === '' || holderIdentity === this.#fence.identity) return false
    return this.#clock.monotonic() < at + leaseDurationSeconds * 1_000
  }

  async #write(before: Lease | undefined, signal: AbortSignal): Promise<boolean> {
    const { namespace, name, client } = this.#options
    const sent = { monotonic: this.#clock.monotonic(), wall: this.#clock.now() }
    const leaseSeconds = Math.ceil(this.#times.leaseDurationMs / 1_000)
    const spec = heldSpec(before?.spec, { identity: this.#fence.identity, leaseSeconds, now: sent.wall })
    const written = before
      ? await client.update({ ...before, spec }, signal)
      : await client.create(
          { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { namespace, name }, spec },
          signal,
        )
    if (written === 'conflict') return false
    this.#observe(written)
    this.#fence.renewed(sent)
    return true
  }

  async #free(signal: AbortSignal): Promise<void> {
    const { client } = this.#options
    for (;;) {
      const lease = await client.read(signal)
      if (!lease || !this.#holds(lease)) return
      const spec: LeaseSpec = releasedSpec(lease.spec, this.#clock.now())
      // A conflict is this process's own last renewal, whose response was lost.
      if ((await client.update({ ...lease, spec }, signal)) !== 'conflict') return
    }
  }

  #observe(lease: Lease): void {
    const { resourceVersion, uid } = this.#observed?.lease.metadata ?? {}
    const same = resourceVersion === lease.metadata?.resourceVersion && uid === lease.metadata?.uid
    if (!this.#observed || !same) this.#observed = { lease, at: this.#clock.monotonic() }
    const holder = lease.spec?.holderIdentity ?? ''
    if (holder !== this.#reportedHolder && holder !== '') this.#log.info('New leader elected', { holder })
    this.#reportedHolder = holder
  }

  #holds(lease: Lease): boolean {
    return lease.spec?.holderIdentity === this.#fence.identity
  }

  /** Passes a signal that is also aborted when one attempt takes too long. */
  async #timed<Result>(outer: AbortSignal, use: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
    outer.throwIfAborted()
    const limit = Math.max(minRequestTimeoutMs, this.#times.renewDeadlineMs / 2)
    const inner = new AbortController()
    const abort = () => inner.abort(outer.reason)
    outer.addEventListener('abort', abort, { once: true })
    this.#due = this.#clock.monotonic() + limit
    const timer = this.#clock.setTimeout(
      () => inner.abort(new Error(`no response within ${limit} ms`)),
      limit,
    )
    try {
      return await use(inner.signal)
    } finally {
      // The response or the timer came late: this process was slow.
      this.#recordStall(this.#due)
      timer.cancel()
      outer.removeEventListener('abort', abort)
    }
  }
}
