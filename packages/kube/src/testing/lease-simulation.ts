// SPDX-License-Identifier: Apache-2.0

// A simulation of processes with separate clocks, one API server and a network, for the tests of the election. Time
// is a number. A process can be paused (its timers and responses wait), partitioned (its messages are lost), run fast
// or slow, have its wall clock set, or be killed. All randomness comes from one seed.
import { type Clock, sleepOn, type Timer } from '../clock/index.ts'
import type { LeaseClient } from '../lease/lease-client.ts'
import type { Lease } from '../lease/record.ts'

interface Happening {
  readonly at: number
  readonly order: number
  readonly run: () => void
}

export class Simulation {
  now = 0
  readonly random: () => number
  readonly #events: Happening[] = []
  #order = 0

  constructor(seed: number) {
    let state = seed >>> 0
    this.random = () => {
      // mulberry32
      state = (state + 0x6d2b79f5) >>> 0
      let t = state
      t = Math.imul(t ^ (t >>> 15), t | 1)
      t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
      return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
    }
  }

  at(at: number, run: () => void): void {
    const event = { at: Math.max(at, this.now), order: this.#order++, run }
    let place = this.#events.length
    while (place > 0 && this.#events[place - 1]!.at > event.at) place--
    this.#events.splice(place, 0, event)
  }

  /** Runs all events until then, and after each event all code that becomes ready. */
  async runUntil(end: number, afterEach: () => void): Promise<void> {
    for (let next = this.#events[0]; next && next.at <= end; next = this.#events[0]) {
      this.#events.shift()
      this.now = next.at
      next.run()
      await new Promise<void>(resolve => setImmediate(resolve))
      afterEach()
    }
    this.now = end
  }
}

export class SimulatedProcess implements Clock {
  readonly name: string
  readonly #simulation: Simulation
  /** Milliseconds of its clocks per millisecond of the simulation. */
  readonly #rate: number
  #wallOffset: number
  #paused = false
  #killed = false
  readonly #waiting: (() => void)[] = []
  cutOff = false

  constructor(
    name: string,
    simulation: Simulation,
    clock: { readonly rate: number; readonly wallOffset: number },
  ) {
    this.name = name
    this.#simulation = simulation
    this.#rate = clock.rate
    this.#wallOffset = clock.wallOffset
  }

  get runs(): boolean {
    return !this.#paused && !this.#killed
  }

  monotonic(): number {
    return this.#simulation.now * this.#rate
  }

  now(): number {
    return this.monotonic() + this.#wallOffset
  }

  setTimeout(callback: () => void, ms: number): Timer {
    let cancelled = false
    this.#simulation.at(this.#simulation.now + Math.max(0, ms) / this.#rate, () =>
      this.deliver(() => {
        if (!cancelled) callback()
      }),
    )
    return {
      cancel: () => {
        cancelled = true
      },
    }
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return sleepOn(this, ms, signal)
  }

  /** Runs code inside the process: now, or when the process resumes. */
  deliver(run: () => void): void {
    if (this.#killed) return
    if (this.#paused) this.#waiting.push(run)
    else run()
  }

  pause(): void {
    this.#paused = true
  }

  resume(): void {
    if (!this.#paused) return
    this.#paused = false
    // Waiting code runs in any order: sockets may be read before timers fire.
    while (this.#waiting.length) {
      const which = Math.floor(this.#simulation.random() * this.#waiting.length)
      const [run] = this.#waiting.splice(which, 1)
      this.#simulation.at(this.#simulation.now, () => this.deliver(run!))
    }
  }

  kill(): void {
    this.#killed = true
  }

  setWallClock(byMs: number): void {
    this.#wallOffset += byMs
  }
}

/** One Lease with optimistic concurrency, and a network that delays, loses requests and loses responses. */
export class SimulatedServer {
  readonly #simulation: Simulation
  /** Maximum delay of a message; a fifth of them are slow. */
  maxDelayMs: number
  #lease: Lease | undefined
  #version = 0

  constructor(simulation: Simulation, maxDelayMs: number) {
    this.#simulation = simulation
    this.maxDelayMs = maxDelayMs
  }

  get holder(): string {
    return this.#lease?.spec?.holderIdentity ?? ''
  }

  get transitions(): number {
    return this.#lease?.spec?.leaseTransitions ?? 0
  }

  clientFor(process: SimulatedProcess): LeaseClient {
    const call = <T>(signal: AbortSignal, handle: () => T) => this.send(process, handle, signal)
    return {
      read: signal => call(signal, () => this.#lease),
      create: (lease, signal) =>
        call(signal, () => (this.#lease ? ('conflict' as const) : this.#store(lease))),
      update: (lease, signal) =>
        call(signal, () =>
          lease.metadata?.resourceVersion === this.#lease?.metadata?.resourceVersion
            ? this.#store(lease)
            : ('conflict' as const),
        ),
    }
  }

  /** Sends a request of any kind: `handle` runs at the server when and if it arrives. */
  send<T>(process: SimulatedProcess, handle: () => T, signal?: AbortSignal): Promise<T> {
    return new Promise((resolve, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason), { once: true })
      if (process.cutOff) return
      this.#simulation.at(this.#simulation.now + this.#delay(), () => {
        const result = handle()
        if (process.cutOff) return
        this.#simulation.at(this.#simulation.now + this.#delay(), () =>
          process.deliver(() => resolve(result)),
        )
      })
    })
  }

  #store(lease: Lease): Lease {
    const metadata = { ...lease.metadata, uid: 'lease', resourceVersion: String(++this.#version) }
    this.#lease = { ...lease, metadata }
    return this.#lease
  }

  #delay(): number {
    // Mostly fast, sometimes as slow as allowed.
    const { random } = this.#simulation
    return random() < 0.8 ? random() * 20 : random() * this.maxDelayMs
  }
}
