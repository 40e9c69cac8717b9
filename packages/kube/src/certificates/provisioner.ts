// SPDX-License-Identifier: Apache-2.0

// Keeps the certificates of a webhook server valid and trusted by the API servers. Any number of processes may run it
// on one store: they make the same decisions (decision.ts), and a process that loses a write uses the result of the
// other one. Promised: authorities are published before a certificate of theirs is served. The served certificate
// stays while anything fails. An authority stays published while another process may serve a certificate of it, even
// after the Secret was deleted. Authorities that another client published stay for `overlapMs`: replicas of a release
// that changes between manual and automatic certificates may serve certificates of them. Not promised: readiness
// while the store or the webhook configurations cannot be read or written. The caller watches both and calls
// `changed`.
import type { Clock } from '../clock/index.ts'
import { type Logger, silentLogger } from '../log/index.ts'
import { type Backoff, backoffDelay } from '../queue/index.ts'
import {
  type CertificateBundle,
  emptyBundle,
  readCertificates,
  serverProblem,
  trustProblem,
} from './bundle.ts'
import { carryOutRenewal, decideRenewal, decideTakeOver, propagatedAt } from './decision.ts'
import {
  type InjectionStore,
  type InjectionTarget,
  injectAuthorities,
  publishedAuthorities,
} from './injection.ts'
import { OtherAuthorities } from './other-authorities.ts'
import type { CertificatePolicy } from './policy.ts'
import { type CertificateSource, MemoryCertificateSource } from './source.ts'
import type { CertificateStore, StoredBundle } from './store.ts'

/** Interval of a full check without any change. */
const checkEveryMs = 12 * 3_600_000
/** Two steps of a renewal are further apart than this. */
const minCheckIntervalMs = 1_000
/** Interval of checks for a missing configuration, in case no watch reports it. */
const missingEveryMs = 10_000
/** Pause after a change was handled, so that another writer of the same field does not cause a tight loop. */
const changePauseMs = 1_000
/** Other processes write the same objects at the same time, each of them once. */
const writeAttempts = 10
const conflictBackoff: Backoff = { baseMs: 10, capMs: 5_000, jitter: 0.5 }
const failureBackoff: Backoff = { baseMs: 1_000, capMs: 60_000, jitter: 0.2 }

export interface CertificateProvisionerOptions {
  readonly store: CertificateStore
  readonly injection: InjectionStore
  readonly targets: readonly InjectionTarget[]
  readonly policy: CertificatePolicy
  readonly clock: Clock
  readonly log?: Logger
  readonly random?: () => number
}

export class CertificateProvisioner {
  readonly #options: CertificateProvisionerOptions
  readonly #clock: Clock
  readonly #log: Logger
  readonly #random: () => number
  readonly #served = new MemoryCertificateSource()
  readonly #others: OtherAuthorities
  #ready = false
  #changed = false
  /** Missing configurations that are already logged. */
  #missing = ''
  #changeHandledAt = Number.NEGATIVE_INFINITY
  #trigger = () => {}

  constructor(options: CertificateProvisionerOptions) {
    this.#options = options
    this.#clock = options.clock
    this.#log = options.log ?? silentLogger
    this.#random = options.random ?? Math.random
    this.#others = new OtherAuthorities(options.policy)
  }

  /** The certificate that the server presents. */
  get source(): CertificateSource {
    return this.#served
  }

  /** Reports whether, at the last check, every webhook configuration existed and trusted the served certificate. */
  get ready(): boolean {
    return this.#ready
  }

  /** Call it when the Secret or a webhook configuration has changed. Triggers a check. */
  changed(): void {
    this.#changed = true
    this.#trigger()
  }

  /** Checks now, after each change, and when something is due, until the signal is aborted. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    let failures = 0
    while (!signal.aborted) {
      this.#changed = false
      let wait: number
      try {
        wait = await this.check(signal)
        failures = 0
      } catch (error) {
        if (signal.aborted) return
        wait = backoffDelay(failureBackoff, ++failures, this.#random)
        this.#log.error('Certificate check failed, retrying', { error, retryInMs: Math.round(wait) })
      }
      if (!this.#changed || failures > 0) await this.#sleep(wait, signal)
      if (this.#changed) await this.#pauseBetweenChanges(signal)
    }
  }

  /** Resolves after the time, or earlier on a change. */
  async #sleep(ms: number, signal: AbortSignal): Promise<void> {
    const triggered = new AbortController()
    this.#trigger = () => triggered.abort()
    await this.#clock.sleep(ms, AbortSignal.any([signal, triggered.signal])).catch(() => {})
  }

  async #pauseBetweenChanges(signal: AbortSignal): Promise<void> {
    const now = this.#clock.monotonic()
    const wait = this.#changeHandledAt + changePauseMs - now
    if (wait > 0) await this.#clock.sleep(wait, signal).catch(() => {})
    this.#changeHandledAt = Math.max(now, now + wait)
  }

  /** Checks once: publishes, serves, and renews if due. Returns the time until the next step is due. */
  async check(signal: AbortSignal): Promise<number> {
    const { store, policy, injection, targets } = this.#options
    for (let conflicts = 0; ; ) {
      const stored = await this.#readOrCreate(signal)
      const now = this.#clock.now()
      const decide = stored.isIssuedByOthers ? decideTakeOver : decideRenewal
      const decision = decide(stored.bundle, policy, now)
      const published = decision.kind === 'renew-all' ? undefined : await this.#publish(stored.bundle, signal)
      // Clients that do not know the new authority could not connect.
      if (published?.error && (decision.kind === 'move-server' || decision.kind === 'keep'))
        throw published.error.cause
      if (decision.kind === 'keep')
        return Math.min(
          this.#untilDue(stored.bundle, decision.until, now),
          published?.recheckInMs ?? checkEveryMs,
        )
      const trusted =
        decision.kind === 'renew-all' ? await publishedAuthorities(injection, targets, signal) : []
      const bundle = await carryOutRenewal(stored.bundle, decision, policy, now, trusted)
      if ((await store.replace(stored, bundle, signal)) === 'written')
        this.#log.info('Certificates were renewed', { ...decision })
      // Another process has written the same decision; the next check reads it.
      else if (++conflicts < writeAttempts)
        await this.#clock.sleep(backoffDelay(conflictBackoff, conflicts, this.#random), signal)
      else throw new Error('cannot update the certificate store: it changes too often')
    }
  }

  #untilDue(bundle: CertificateBundle, until: number | undefined, now: number): number {
    const [server] = readCertificates(bundle.serverCert)
    const renewal = server ? server.validToDate.getTime() - this.#options.policy.renewBeforeMs : now
    return Math.min(checkEveryMs, Math.max(minCheckIntervalMs, (until ?? renewal) - now))
  }

  /**
   * Injects the authorities, then serves the certificate that they signed. Returns a failure, because renewal may
   * still be right.
   */
  async #publish(bundle: CertificateBundle, signal: AbortSignal): Promise<Published> {
    const { policy, injection, targets } = this.#options
    const [name = ''] = policy.serverNames
    const now = this.#clock.now()
    const authorities = readCertificates(bundle.authorityCerts)
    const works = serverProblem(bundle, authorities, name, now) === undefined
    const pair = { cert: bundle.serverCert, key: bundle.serverKey }
    let missing: InjectionTarget[]
    try {
      const kept = this.#others.startCheck(authorities, now)
      const bundles = { authorities: bundle.authorityCerts, kept }
      missing = await injectAuthorities(injection, targets, bundles, signal, this.#log)
    } catch (error) {
      this.#ready = false
      // Keep the served certificate, because clients know its authority. A first certificate cannot make anything
      // worse.
      if (works && !this.#served.current()) this.#served.set(pair)
      return { error: { cause: error } }
    }
    this.#logMissing(missing)
    const served = this.#served.current()
    const isTrusted = (cert: string) => trustProblem(cert, authorities, name, now) === undefined
    // API servers need a moment to see a new authority. Until then, keep a certificate that they trust.
    const propagated = authorities[0] ? propagatedAt(authorities[0], policy) : now
    const waits = works && served && served.cert !== pair.cert && now < propagated && isTrusted(served.cert)
    if (works && !waits) this.#served.set(pair)
    const current = this.#served.current()
    this.#ready = missing.length === 0 && current !== undefined && isTrusted(current.cert)
    const due = [
      ...(waits ? [Math.max(minCheckIntervalMs, propagated - now)] : []),
      ...(!waits && missing.length > 0 ? [missingEveryMs] : []),
      ...this.#others.deadlines().map(deadline => Math.max(minCheckIntervalMs, deadline - now)),
    ]
    return due.length > 0 ? { recheckInMs: Math.min(...due) } : {}
  }

  #logMissing(missing: readonly InjectionTarget[]): void {
    const names = missing.map(({ kind, name }) => `${kind} ${name}`).join(', ')
    if (names && names !== this.#missing)
      this.#log.warn('Webhook configurations do not exist; the process is not ready until they are created', {
        names,
      })
    this.#missing = names
  }

  async #readOrCreate(signal: AbortSignal): Promise<StoredBundle> {
    const { store } = this.#options
    for (let attempt = 1; attempt <= writeAttempts; attempt++) {
      const stored = await store.read(signal)
      if (stored) return stored
      await store.create(emptyBundle, signal)
    }
    throw new Error('cannot create the certificate store: it is deleted each time')
  }
}

/** The result of publishing: the failure, or the time of the next check if it is earlier than the next renewal. */
interface Published {
  readonly error?: { readonly cause: unknown }
  readonly recheckInMs?: number
}
