// SPDX-License-Identifier: Apache-2.0

import type { Clock, Timer } from '@grove/kube'
import type { FilterName } from './filter.ts'
import type { PodInfo } from './pod-info.ts'

/** The first wait of a pod that could not be placed, and the longest; it doubles in between. */
const firstBackoffMs = 1_000
const longestBackoffMs = 10_000

interface Entry {
  info: PodInfo
  /** Monotonic; pods of one priority are served in this order. */
  readonly since: number
  readonly sequence: number
  attempts: number
  triedAt: number
  state: 'active' | 'waiting' | 'backing off' | 'taken'
  /** Set while taken: something happened that may make room, so that the answer may be out of date already. */
  moved: boolean
  filters: ReadonlySet<FilterName>
  timer?: Timer
}

/**
 * Which pod to place next: higher priorities first, then those that wait longest. A pod that could not be placed waits
 * until something happens that may have removed the reason, and at least its back-off.
 */
export class SchedulingQueue {
  readonly #clock: Clock
  readonly #onActive: () => void
  readonly #entries = new Map<string, Entry>()
  readonly #waiting = new Set<Entry>()
  readonly #taken = new Set<Entry>()
  /** Sorted only when something is taken: many are added at a time. */
  #active: Entry[] = []
  #sorted = true
  #sequence = 0

  constructor(clock: Clock, onActive: () => void) {
    this.#clock = clock
    this.#onActive = onActive
  }

  get active(): number {
    return this.#active.length
  }

  get unschedulable(): number {
    return this.#waiting.size
  }

  has(key: string): boolean {
    return this.#entries.has(key)
  }

  /** A pod that waits for a node; one that was changed is tried again. */
  add(info: PodInfo): void {
    const known = this.#entries.get(info.key)
    if (known) {
      known.info = info
      if (known.state === 'waiting') this.#wake(known)
      else if (known.state === 'taken') known.moved = true
      return
    }
    const entry: Entry = {
      info,
      since: this.#clock.monotonic(),
      sequence: this.#sequence++,
      attempts: 0,
      triedAt: 0,
      state: 'active',
      moved: false,
      filters: new Set(),
    }
    this.#entries.set(info.key, entry)
    this.#activate(entry)
  }

  /** Takes over what does not change the pod's chances. */
  refresh(info: PodInfo): void {
    const known = this.#entries.get(info.key)
    if (known) known.info = info
  }

  remove(key: string): void {
    const entry = this.#entries.get(key)
    if (!entry) return
    entry.timer?.cancel()
    this.#entries.delete(key)
    this.#waiting.delete(entry)
    this.#taken.delete(entry)
    if (entry.state === 'active') this.#active.splice(this.#active.indexOf(entry), 1)
  }

  take(): PodInfo | undefined {
    if (!this.#sorted) {
      this.#active.sort(lessUrgent)
      this.#sorted = true
    }
    const entry = this.#active.pop()
    if (!entry) return undefined
    entry.state = 'taken'
    this.#taken.add(entry)
    entry.moved = false
    entry.attempts++
    entry.triedAt = this.#clock.monotonic()
    return entry.info
  }

  /** The pod found no place, because of these rules. */
  putBack(key: string, filters: ReadonlySet<FilterName>): void {
    const entry = this.#entries.get(key)
    if (!entry) return
    entry.filters = filters
    this.#wait(entry)
    if (entry.moved) this.#wake(entry)
  }

  /** Something failed that has nothing to do with the pod: it is tried again after its back-off. */
  retry(key: string): void {
    const entry = this.#entries.get(key)
    if (!entry) return
    this.#wait(entry)
    this.#wake(entry)
  }

  /** Something happened that may help pods which these rules kept out; `helps` rules out those it cannot help. */
  wake(
    filters: readonly FilterName[],
    helps: (info: PodInfo, filters: ReadonlySet<FilterName>) => boolean,
  ): void {
    for (const entry of this.#taken) entry.moved = true
    for (const entry of [...this.#waiting])
      if (filters.some(filter => entry.filters.has(filter)) && helps(entry.info, entry.filters))
        this.#wake(entry)
  }

  wakeAll(): void {
    for (const entry of this.#taken) entry.moved = true
    for (const entry of [...this.#waiting]) this.#wake(entry)
  }

  clear(): void {
    for (const { timer } of this.#entries.values()) timer?.cancel()
    this.#entries.clear()
    this.#waiting.clear()
    this.#taken.clear()
    this.#active = []
  }

  #wait(entry: Entry): void {
    entry.state = 'waiting'
    this.#taken.delete(entry)
    this.#waiting.add(entry)
  }

  #wake(entry: Entry): void {
    this.#waiting.delete(entry)
    const backoff = Math.min(longestBackoffMs, firstBackoffMs * 2 ** (entry.attempts - 1))
    const left = entry.triedAt + backoff - this.#clock.monotonic()
    if (left <= 0) this.#activate(entry)
    else {
      entry.state = 'backing off'
      entry.timer = this.#clock.setTimeout(() => this.#activate(entry), left)
    }
  }

  #activate(entry: Entry): void {
    entry.state = 'active'
    this.#active.push(entry)
    this.#sorted = false
    this.#onActive()
  }
}

/** The most urgent last, where taking it is cheap. */
function lessUrgent(a: Entry, b: Entry): number {
  return a.info.priority - b.info.priority || b.since - a.since || b.sequence - a.sequence
}
