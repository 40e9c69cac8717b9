// SPDX-License-Identifier: Apache-2.0

// A queue of keys to reconcile. A key identifies an object, never an event: however often it is added before a worker
// takes it, it is returned once. Promised:
// - a key is never with two workers; if it is added meanwhile, it is returned again afterwards; no add is lost;
// - a key has at most one deadline (`addAt`, `addAfter` replace it, the `…NoLaterThan` forms only move it forward).
//   Taking the key consumes its deadline, because the following reconcile supersedes it;
// - order as in fair-order.ts; O(log n) at most.
// Not promised: that anything survives the process; after a restart every key must be added again.
import type { Clock } from '../clock/index.ts'
import type { Registry } from '../metrics/index.ts'
import { type Backoff, backoffDelay, defaultBackoff } from './backoff.ts'
import { Deadlines, type When } from './deadlines.ts'
import { FairOrder, moreUrgent, type Priority, type Waiting } from './fair-order.ts'
import { QueueMetrics } from './metrics.ts'

export interface WorkQueueOptions<Key extends string> {
  /** For metrics: usually the controller's name. */
  readonly name: string
  readonly clock: Clock
  /** Returns the owner of a key; owners take turns. Without it, all keys have one owner. */
  readonly ownerOf?: (key: Key) => string
  readonly backoff?: Backoff
  readonly registry?: Registry
  /** 0 ≤ r < 1, for jitter. */
  readonly random?: () => number
}

interface Item<Key> extends Waiting {
  readonly key: Key
  /** `waiting` in the order; `running` with a worker; `again`: with a worker, and added meanwhile. */
  state: 'waiting' | 'running' | 'again'
  /** Monotonic time of the last change of state. */
  since: number
}

export class WorkQueue<Key extends string = string> {
  readonly name: string
  readonly #clock: Clock
  readonly #ownerOf: (key: Key) => string
  readonly #backoff: Backoff
  readonly #random: () => number
  readonly #metrics: QueueMetrics | undefined
  readonly #items = new Map<Key, Item<Key>>()
  readonly #running = new Map<Key, Item<Key>>()
  readonly #order = new FairOrder<Item<Key>>()
  readonly #deadlines: Deadlines<Key>
  readonly #failures = new Map<Key, number>()
  /** Workers that wait for a key. */
  readonly #idle = new Set<(key: Key | undefined) => void>()
  readonly #drainers: (() => void)[] = []
  #isClosed = false

  constructor(options: WorkQueueOptions<Key>) {
    this.name = options.name
    this.#clock = options.clock
    this.#ownerOf = options.ownerOf ?? (() => '')
    this.#backoff = options.backoff ?? defaultBackoff
    this.#random = options.random ?? Math.random
    this.#deadlines = new Deadlines(options.clock, key => this.#enqueue(key, 'normal'))
    this.#metrics =
      options.registry &&
      new QueueMetrics(options.registry, options.name, {
        depth: () => this.#order.size,
        runningSeconds: () => this.#runningSeconds(),
      })
  }

  /** The number of keys that wait for a worker. */
  get depth(): number {
    return this.#order.size
  }

  /** The number of keys that are being processed. */
  get running(): number {
    return this.#running.size
  }

  /** The number of keys with a deadline. */
  get delayed(): number {
    return this.#deadlines.size
  }

  /** Returns the key as soon as its turn comes. A waiting key keeps its position, or gets a better one. */
  add(key: Key, priority: Priority = 'normal'): void {
    this.#enqueue(key, priority)
  }

  /** Adds the key at a wall-clock time (milliseconds since the epoch). Replaces its deadline. */
  addAt(key: Key, at: number): void {
    this.#addWhen(key, { at })
  }

  /** Adds the key in `ms` milliseconds. Replaces its deadline. */
  addAfter(key: Key, ms: number): void {
    this.#addWhen(key, { after: ms })
  }

  /** Like `addAt`, but an earlier deadline stays. */
  addNoLaterThan(key: Key, at: number): void {
    if (!this.#isDueWithin(key, at - this.#clock.now())) this.addAt(key, at)
  }

  /** Like `addAfter`, but an earlier deadline stays. */
  addNoLaterThanAfter(key: Key, ms: number): void {
    if (!this.#isDueWithin(key, ms)) this.addAfter(key, ms)
  }

  /** Adds the key after a back-off that doubles with each call until `forget`. Returns the wait in milliseconds. */
  retry(key: Key): number {
    const failures = (this.#failures.get(key) ?? 0) + 1
    this.#failures.set(key, failures)
    this.#metrics?.retried()
    const delay = backoffDelay(this.#backoff, failures, this.#random)
    this.addNoLaterThanAfter(key, delay)
    return delay
  }

  /** The number of retries in a row. */
  failuresOf(key: Key): number {
    return this.#failures.get(key) ?? 0
  }

  /** Resets the back-off of the key. */
  forget(key: Key): void {
    this.#failures.delete(key)
  }

  /** Waits for the next key; undefined after a shutdown. Call `done` when the work is finished. */
  take(): Promise<Key | undefined> {
    const key = this.takeNow()
    if (key !== undefined || this.#isClosed) return Promise.resolve(key)
    return new Promise(resolve => this.#idle.add(resolve))
  }

  /** Like `take` without waiting. */
  takeNow(): Key | undefined {
    if (this.#isClosed) return undefined
    const item = this.#order.pop()
    if (!item) return undefined
    const now = this.#clock.monotonic()
    this.#metrics?.taken(now - item.since)
    item.state = 'running'
    item.since = now
    this.#running.set(item.key, item)
    this.#deadlines.delete(item.key)
    return item.key
  }

  /** The worker has finished the key. */
  done(key: Key): void {
    const item = this.#running.get(key)
    if (!item) throw new Error(`queue ${this.name}: done("${key}") without take`)
    this.#running.delete(key)
    this.#metrics?.finished(this.#clock.monotonic() - item.since)
    if (item.state === 'again' && !this.#isClosed) this.#wait(item)
    else this.#items.delete(key)
    this.#resolveIfDrained()
  }

  /** Returns no further key and drops deadlines. Resolves when no key is being processed. May be called again. */
  shutDown(): Promise<void> {
    this.#isClosed = true
    this.#deadlines.clear()
    this.#metrics?.detach()
    return new Promise(resolve => {
      this.#drainers.push(resolve)
      this.#resolveIfDrained()
    })
  }

  #enqueue(key: Key, priority: Priority): void {
    if (this.#isClosed) return
    this.#metrics?.added()
    const item = this.#items.get(key)
    if (!item) {
      const created: Item<Key> = { key, owner: this.#ownerOf(key), priority, state: 'waiting', since: 0 }
      this.#items.set(key, created)
      this.#wait(created)
    } else if (item.state === 'waiting') this.#order.raise(item, priority)
    else {
      item.priority = item.state === 'again' ? moreUrgent(item.priority, priority) : priority
      item.state = 'again'
    }
  }

  #wait(item: Item<Key>): void {
    item.state = 'waiting'
    item.since = this.#clock.monotonic()
    this.#order.push(item)
    for (const worker of this.#idle) {
      this.#idle.delete(worker)
      worker(this.takeNow())
      break
    }
  }

  #addWhen(key: Key, when: When): void {
    if (this.#isClosed) return
    this.#deadlines.set(key, when)
  }

  #isDueWithin(key: Key, ms: number): boolean {
    const remaining = this.#deadlines.remaining(key)
    return remaining !== undefined && remaining <= ms
  }

  /** After a shutdown: resolves idle workers, and the callers of `shutDown` once no work is left. */
  #resolveIfDrained(): void {
    if (!this.#isClosed) return
    for (const worker of this.#idle) worker(undefined)
    this.#idle.clear()
    if (this.#running.size > 0) return
    for (const drained of this.#drainers.splice(0)) drained()
  }

  *#runningSeconds(): Iterable<number> {
    const now = this.#clock.monotonic()
    for (const { since } of this.#running.values()) yield (now - since) / 1000
  }
}
