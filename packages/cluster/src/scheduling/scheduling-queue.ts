// SPDX-License-Identifier: Apache-2.0

import type { Clock, Timer } from '@grove/kube'
import type { FilterName } from './filter.ts'
import type { PodInfo } from './pod-info.ts'

/** The backoff of an unschedulable pod starts here and doubles up to the maximum. */
const firstBackoffMs = 1_000
const longestBackoffMs = 10_000

interface Entry {
  info: PodInfo
  /** Monotonic. Pods of equal priority are scheduled in this order. */
  readonly since: number
  readonly sequence: number
  attempts: number
  triedAt: number
  state: 'active' | 'waiting' | 'backing off' | 'taken'
  /** Set while the pod is being scheduled: an event occurred that may make the result outdated. */
  moved: boolean
  filters: ReadonlySet<FilterName>
  timer?: Timer
}

/**
 * Orders pods by priority, then by waiting time. An unschedulable pod waits for an event that may help, and
 * at least for its backoff.
 */
export class SchedulingQueue {
  readonly #clock: Clock
  readonly #onActive: () => void
  readonly #entries = new Map<string, Entry>()
  readonly #waiting = new Set<Entry>()
  readonly #taken = new Set<Entry>()
  /** Sorted only on `take`, because many pods are added at once. */
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

  /** Adds an unscheduled pod. A changed pod is tried again. */
  add(info: PodInfo): void {
    const known = this.#entries.get(info.key)
    if (known) {
      known.info = info
      if (known.state === 'waiting') this.#activateAfterBackoff(known)
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

  /** Replaces the pod after a change that does not affect scheduling. */
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

  /** Returns a pod that these filters rejected. */
  putBack(key: string, filters: ReadonlySet<FilterName>): void {
    const entry = this.#entries.get(key)
    if (!entry) return
    entry.filters = filters
    this.#wait(entry)
    if (entry.moved) this.#activateAfterBackoff(entry)
  }

  /** Returns a pod after an unrelated error. It is tried again after its backoff. */
  retry(key: string): void {
    const entry = this.#entries.get(key)
    if (!entry) return
    this.#wait(entry)
    this.#activateAfterBackoff(entry)
  }

  /**
   * Handles an event that may help pods which these filters rejected. `helps` excludes pods that it cannot
   * help.
   */
  activate(
    filters: readonly FilterName[],
    helps: (info: PodInfo, filters: ReadonlySet<FilterName>) => boolean,
  ): void {
    for (const entry of this.#taken) entry.moved = true
    for (const entry of [...this.#waiting])
      if (filters.some(filter => entry.filters.has(filter)) && helps(entry.info, entry.filters))
        this.#activateAfterBackoff(entry)
  }

  activateAll(): void {
    for (const entry of this.#taken) entry.moved = true
    for (const entry of [...this.#waiting]) this.#activateAfterBackoff(entry)
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

  #activateAfterBackoff(entry: Entry): void {
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

/** The most urgent pod is last, because removing the last element is cheap. */
function lessUrgent(a: Entry, b: Entry): number {
  return a.info.priority - b.info.priority || b.since - a.since || b.sequence - a.sequence
}
