// SPDX-License-Identifier: Apache-2.0

// Keeps a webhook server in certificates and the API servers in the knowledge of them. Any number of processes may run
// it on one store: they decide alike (decision.ts), and who is slower to write takes what the other wrote. Promises:
// authorities are published before a certificate of theirs is served; what is served stays while anything fails.
// Not promised: readiness while the store or the webhook configurations cannot be read or written.
import type { Clock } from '../clock/index.ts'
import { type Logger, silentLogger } from '../log/index.ts'
import { type Backoff, backoffDelay } from '../queue/index.ts'
import { type CertificateBundle, emptyBundle, readCertificates, serverProblem } from './bundle.ts'
import { carryOutRenewal, decideRenewal } from './decision.ts'
import { type InjectionStore, type InjectionTarget, injectAuthorities } from './injection.ts'
import type { CertificatePolicy } from './policy.ts'
import { type CertificateSource, MemoryCertificateSource } from './source.ts'
import type { CertificateStore, StoredBundle } from './store.ts'

/** Everything is looked at this often although nobody told of a change. */
const checkEveryMs = 12 * 3_600_000
/** Two steps of a renewal are further apart than this. */
const soonestCheckMs = 1_000
/** Other processes write the same things at the same time, once. */
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
  #ready = false
  #changed = false
  #wake = () => {}

  constructor(options: CertificateProvisionerOptions) {
    this.#options = options
    this.#clock = options.clock
    this.#log = options.log ?? silentLogger
    this.#random = options.random ?? Math.random
  }

  /** What the server is to present. */
  get source(): CertificateSource {
    return this.#served
  }

  /** A certificate is served and the webhook configurations knew its authority when last looked at. */
  get ready(): boolean {
    return this.#ready
  }

  /** The Secret or a webhook configuration changed: look now. */
  changed(): void {
    this.#changed = true
    this.#wake()
  }

  /** Looks now, whenever told, and when something falls due, until the signal is aborted. Never rejects. */
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
        this.#log.error('Certificates could not be provided', { error, retryInMs: Math.round(wait) })
      }
      if (this.#changed && failures === 0) continue
      const woken = new AbortController()
      this.#wake = () => woken.abort()
      await this.#clock.sleep(wait, AbortSignal.any([signal, woken.signal])).catch(() => {})
    }
  }

  /** One look: publishes, serves, and renews what must be. Returns how long nothing falls due. */
  async check(signal: AbortSignal): Promise<number> {
    const { store, policy } = this.#options
    for (let conflicts = 0; ; ) {
      const stored = await this.#readOrCreate(signal)
      const now = this.#clock.now()
      const decision = decideRenewal(stored.bundle, policy, now)
      const unpublished =
        decision.kind === 'renew-all' ? undefined : await this.#publish(stored.bundle, signal)
      // Clients that do not know the new authority would be lost; and there is nothing else to do here.
      if (unpublished && (decision.kind === 'move-server' || decision.kind === 'keep'))
        throw unpublished.error
      if (decision.kind === 'keep') return this.#untilDue(stored.bundle, decision.until, now)
      const bundle = await carryOutRenewal(stored.bundle, decision, policy, now)
      if ((await store.replace(stored, bundle, signal)) === 'written')
        this.#log.info('Certificates were renewed', { ...decision })
      // Someone else's write is as good as ours: the next look sees it.
      else if (++conflicts < writeAttempts)
        await this.#clock.sleep(backoffDelay(conflictBackoff, conflicts, this.#random), signal)
      else throw new Error('the certificate store changes faster than it can be updated')
    }
  }

  #untilDue(bundle: CertificateBundle, until: number | undefined, now: number): number {
    const [server] = readCertificates(bundle.serverCert)
    const renewal = server ? server.validToDate.getTime() - this.#options.policy.renewBeforeMs : now
    return Math.min(checkEveryMs, Math.max(soonestCheckMs, (until ?? renewal) - now))
  }

  /** Injects the authorities, then serves what they signed. A failure is returned: renewing may still be right. */
  async #publish(bundle: CertificateBundle, signal: AbortSignal): Promise<{ error: unknown } | undefined> {
    const { policy, injection, targets } = this.#options
    const [name = ''] = policy.serverNames
    const authorities = readCertificates(bundle.authorityCerts)
    const works = serverProblem(bundle, authorities, name, this.#clock.now()) === undefined
    const pair = { cert: bundle.serverCert, key: bundle.serverKey }
    try {
      await injectAuthorities(injection, targets, bundle.authorityCerts, signal, this.#log)
    } catch (error) {
      this.#ready = false
      // What is served stays, because clients know its authority; a first certificate cannot make anything worse.
      if (works && !this.#served.current()) this.#served.set(pair)
      return { error }
    }
    if (works) this.#served.set(pair)
    this.#ready = works
    return undefined
  }

  async #readOrCreate(signal: AbortSignal): Promise<StoredBundle> {
    const { store } = this.#options
    for (let attempt = 1; attempt <= writeAttempts; attempt++) {
      const stored = await store.read(signal)
      if (stored) return stored
      await store.create(emptyBundle, signal)
    }
    throw new Error('the certificate store is deleted as often as it is created')
  }
}
