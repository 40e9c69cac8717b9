// SPDX-License-Identifier: Apache-2.0

// Starts and stops the parts of a controller process in order. Promised:
// - caches are synced before they are read;
// - webhooks and controllers run independently of each other, so that a missing certificate stops no workload;
// - controllers run only while this process leads;
// - the failure of any part ends the process, with the name of the part;
// - stopping takes bounded time: controllers finish their running reconciles, then the lease is handed over, then the
//   rest stops. The lease is handed over only if no controller can write any more; otherwise it expires;
// - a signal stops no server at once: servers go on for `serverDrainMs`, while load balancers learn of the end.
// Not promised: that a reconcile which ignores its signal has ended when `run` returns. The process should exit then.
import type { Clock } from '../clock/index.ts'
import { type Leadership, LeadershipLost, type LeaseElector, unelected } from '../lease/index.ts'
import { type Logger, silentLogger } from '../log/index.ts'
import { createRegistry, type Registry } from '../metrics/index.ts'
import { type EndpointAddress, HttpEndpoint } from './endpoint.ts'
import { type MetricsEndpointOptions, metricsEndpoint } from './metrics-endpoint.ts'
import { type HealthCheck, Probe } from './probes.ts'
import { profilingEndpoint } from './profiling.ts'

/** Time for running reconciles to finish, and again to end after they were aborted. */
const gracefulStopMs = 5_000
const abortedStopMs = 1_000
/** Limit of each further step of a stop. */
const stepStopMs = 5_000

export interface ManagedCache {
  run(signal: AbortSignal): Promise<void>
  waitForSync(signal: AbortSignal): Promise<void>
}

/** Runs until the signal is aborted, leader or not. */
export interface Background {
  run(signal: AbortSignal): Promise<void>
}

/** `start` resolves when other components may rely on it. The signal is the hard stop. */
export interface Stoppable {
  start(signal: AbortSignal): Promise<void>
  stop(): Promise<void>
}

/** A server that others find through a Service. */
export interface DrainedServer extends Stoppable {
  /** Still serves, but asks clients to open no further request on their connections. */
  drain?(): void
}

export interface ManagerOptions {
  readonly clock: Clock
  readonly log?: Logger
  readonly registry?: Registry
  /** Without it this process always leads. */
  readonly election?: LeaseElector
  /**
   * The time from a signal until servers stop. Kubernetes sends the signal to a pod while Services still route
   * requests to it. None by default.
   */
  readonly serverDrainMs?: number
  readonly probes?: EndpointAddress
  readonly metrics?: MetricsEndpointOptions
  readonly profiling?: EndpointAddress
}

export class Manager {
  readonly registry: Registry
  /** Every write must check it. */
  readonly leadership: Leadership
  readonly health: Probe
  readonly readiness: Probe
  readonly endpoints: readonly HttpEndpoint[]
  readonly #options: ManagerOptions
  readonly #clock: Clock
  readonly #log: Logger
  readonly #caches = new Map<string, ManagedCache>()
  readonly #backgrounds = new Map<string, Background>()
  readonly #servers = new Map<string, DrainedServer>()
  readonly #controllers = new Map<string, Stoppable>()
  readonly #lastSteps = new Map<string, () => Promise<void>>()
  readonly #running: Promise<void>[] = []
  /** The first failure of any part. */
  readonly #failure = Promise.withResolvers<never>()
  /** Ends the controllers. */
  readonly #controllersHard = new AbortController()
  /** Ends caches, backgrounds and servers. */
  readonly #everything = new AbortController()

  constructor(options: ManagerOptions) {
    this.#options = options
    this.#clock = options.clock
    this.#log = options.log ?? silentLogger
    this.registry = options.registry ?? createRegistry()
    this.leadership = options.election?.leadership ?? unelected()
    this.health = new Probe('/healthz', options.clock)
    this.readiness = new Probe('/readyz', options.clock)
    this.#failure.promise.catch(() => {})
    const { probes, metrics, profiling } = options
    this.endpoints = [
      ...(probes
        ? [
            new HttpEndpoint(
              'probes',
              probes,
              async url => (await this.health.respond(url)) ?? (await this.readiness.respond(url)),
              this.#log,
            ),
          ]
        : []),
      ...(metrics ? [metricsEndpoint(metrics, this.registry, this.#log)] : []),
      ...(profiling ? [profilingEndpoint(profiling, this.#clock, this.#log)] : []),
    ]
  }

  addCache(name: string, cache: ManagedCache): void {
    add(this.#caches, name, cache)
  }

  addBackground(name: string, background: Background): void {
    add(this.#backgrounds, name, background)
  }

  /** Started after the caches are synced; no other part waits for it. */
  addServer(name: string, server: DrainedServer): void {
    add(this.#servers, name, server)
  }

  /** Started when this process leads. */
  addController(name: string, controller: Stoppable): void {
    add(this.#controllers, name, controller)
  }

  /** Runs after everything else has stopped, for a bounded time; for example to write the remaining events. */
  addLastStep(name: string, step: () => Promise<void>): void {
    add(this.#lastSteps, name, step)
  }

  addHealthCheck(name: string, check: HealthCheck): void {
    this.health.add(name, check)
  }

  addReadinessCheck(name: string, check: HealthCheck): void {
    this.readiness.add(name, check)
  }

  /**
   * Resolves after an orderly stop. Rejects, also after everything has stopped, if a part failed or leadership was
   * lost.
   */
  async run(stop: AbortSignal): Promise<void> {
    // The end of the process also ends all waits, so that no part starts while the others stop.
    const ending = new AbortController()
    const end = () => ending.abort(stop.reason)
    stop.addEventListener('abort', end, { once: true })
    if (stop.aborted) end()
    let failure: unknown
    try {
      await Promise.race([this.#start(ending.signal), this.#failure.promise])
      await Promise.race([aborted(stop), aborted(this.leadership.signal), this.#failure.promise])
      if (!stop.aborted) failure = this.leadership.signal.reason
    } catch (error) {
      if (!stop.aborted) failure = error
    }
    stop.removeEventListener('abort', end)
    ending.abort(failure)
    if (failure) this.#log.error('Stopping the process because a component failed', { error: failure })
    await this.#stop(failure)
    if (failure) throw failure
  }

  async #start(ending: AbortSignal): Promise<void> {
    const everything = this.#everything.signal
    for (const endpoint of this.endpoints) await endpoint.start()
    for (const [name, background] of this.#backgrounds) this.#supervise(name, background.run(everything))
    for (const [name, cache] of this.#caches) this.#supervise(name, cache.run(everything))
    await Promise.all([...this.#caches.values()].map(cache => cache.waitForSync(ending)))
    for (const [name, server] of this.#servers) this.#supervise(name, server.start(everything))
    await this.#options.election?.acquire(ending)
    for (const [name, controller] of this.#controllers) {
      ending.throwIfAborted()
      this.#log.info('Starting controller', { controller: name })
      await controller.start(this.#controllersHard.signal)
    }
  }

  /** A part that rejects ends the process. A part that resolves early is finished, which is allowed. */
  #supervise(name: string, running: Promise<void>): void {
    const watched = running.catch(error => {
      if (this.#everything.signal.aborted) return
      this.#log.error('Component failed', { part: name, error })
      this.#failure.reject(error)
    })
    this.#running.push(watched)
  }

  async #stop(failure: unknown): Promise<void> {
    // A process that failed is restarted at once, and its Service does not know until it has ended.
    const drained = failure === undefined ? this.#drainServers() : undefined
    const ended = await this.#stopControllers(failure instanceof LeadershipLost)
    await this.#bounded('lease', this.#options.election?.release({ handOver: ended }))
    for (const [name, step] of this.#lastSteps) await this.#bounded(name, step())
    await drained
    for (const [name, server] of this.#servers) await this.#bounded(name, server.stop())
    this.#everything.abort(new Error('the process is stopping'))
    await this.#bounded('caches and background work', Promise.all(this.#running))
    for (const endpoint of this.endpoints) await this.#bounded(endpoint.name, endpoint.stop())
  }

  async #drainServers(): Promise<void> {
    const { serverDrainMs = 0 } = this.#options
    if (this.#servers.size === 0 || serverDrainMs === 0) return
    this.#log.info('Serving until Services route no more requests to this process', { forMs: serverDrainMs })
    for (const server of this.#servers.values()) server.drain?.()
    await this.#clock.sleep(serverDrainMs)
  }

  /** Reports whether all of them have ended. A process that no longer leads must not finish its reconciles. */
  async #stopControllers(lostLeadership: boolean): Promise<boolean> {
    const reason = new LeadershipLost('the process is stopping')
    if (lostLeadership) this.#controllersHard.abort(reason)
    const stopped = Promise.all([...this.#controllers.values()].map(controller => controller.stop()))
    const grace = lostLeadership ? abortedStopMs : gracefulStopMs
    if (await this.#within(grace, stopped)) return true
    this.#log.warn('Reconciles did not finish in time, aborting them', { afterMs: grace })
    this.#controllersHard.abort(reason)
    return this.#within(abortedStopMs, stopped)
  }

  async #bounded(name: string, step: Promise<unknown> | undefined): Promise<void> {
    if (!step || (await this.#within(stepStopMs, step))) return
    this.#log.warn('Component did not stop in time', { part: name, afterMs: stepStopMs })
  }

  async #within(ms: number, step: Promise<unknown>): Promise<boolean> {
    const late = Promise.withResolvers<false>()
    const timer = this.#clock.setTimeout(() => late.resolve(false), ms)
    const done = step.then(
      () => true,
      error => {
        this.#log.warn('Component failed while stopping', { error })
        return true
      },
    )
    const result = await Promise.race([done, late.promise])
    timer.cancel()
    return result
  }
}

function add<Part>(parts: Map<string, Part>, name: string, part: Part): void {
  if (parts.has(name)) throw new Error(`a component named ${name} is already registered`)
  parts.set(name, part)
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
