// SPDX-License-Identifier: Apache-2.0

// The reference for tests of the cache: the server's state, and the events of a watch with a selector.

import type { KubeObject, Stored, StoredMeta, WatchEvent } from '../client/index.ts'

export interface Item extends KubeObject {
  readonly metadata: StoredMeta
}

/** Every change of the simulated cluster in order, with the resulting object. */
export class SimulatedHistory {
  readonly truth = new Map<string, Stored<Item>>()
  readonly deletedUids = new Set<string>()
  readonly #events: { readonly before?: Stored<Item>; readonly after?: Stored<Item>; readonly at: number }[] =
    []
  readonly #isSelected: (object: Item) => boolean
  #resourceVersion = 95
  #uids = 0

  constructor(isSelected: (object: Item) => boolean = () => true) {
    this.#isSelected = isSelected
  }

  get resourceVersion(): string {
    return String(this.#resourceVersion)
  }

  create(name: string, labels: Record<string, string>): Stored<Item> | undefined {
    if (this.truth.has(name)) return undefined
    return this.#record(name, { name, namespace: 'ns', uid: `u${++this.#uids}`, resourceVersion: '', labels })
  }

  modify(name: string, change: Partial<StoredMeta>): Stored<Item> | undefined {
    const before = this.truth.get(name)
    return before && this.#record(name, { ...before.metadata, ...change }, before)
  }

  remove(name: string): Stored<Item> | undefined {
    const before = this.truth.get(name)
    if (!before) return undefined
    this.truth.delete(name)
    this.deletedUids.add(before.metadata.uid)
    const at = ++this.#resourceVersion
    this.#events.push({ before, at })
    return before
  }

  selected(): Stored<Item>[] {
    return [...this.truth.values()].filter(object => this.#isSelected(object))
  }

  /** Returns the events that a watch from this version on would have sent by now. */
  eventsAfter(resourceVersion: string): WatchEvent<Item>[] {
    const events: WatchEvent<Item>[] = []
    for (const { before, after, at } of this.#events) {
      if (at <= Number(resourceVersion)) continue
      const was = before !== undefined && this.#isSelected(before)
      const is = after !== undefined && this.#isSelected(after)
      if (is) events.push({ type: was ? 'MODIFIED' : 'ADDED', object: after })
      else if (was) events.push({ type: 'DELETED', object: withVersion(before, at) })
    }
    return events
  }

  #record(name: string, metadata: StoredMeta, before?: Stored<Item>): Stored<Item> {
    const at = ++this.#resourceVersion
    const after = { metadata: { ...metadata, resourceVersion: String(at) } }
    this.truth.set(name, after)
    this.#events.push({ before, after, at })
    return after
  }
}

function withVersion(object: Stored<Item>, at: number): Stored<Item> {
  return { ...object, metadata: { ...object.metadata, resourceVersion: String(at) } }
}
