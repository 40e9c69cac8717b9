// SPDX-License-Identifier: Apache-2.0

import type { ListType } from './field-type.ts'
import { elementOf } from './list-items.ts'
import { merge } from './merge.ts'
import type { PathElement } from './path-element.ts'

/**
 * Merges keyed lists and sets. Applied items have their applied order. Other live items keep their position
 * relative to their neighbours, as far as the two orders agree.
 */
export function mergeList(
  live: readonly unknown[],
  applied: readonly unknown[],
  type: ListType,
): readonly unknown[] {
  const merged = new Interleaving(index(live, type), index(applied, type), type).run()
  return merged.length === live.length && merged.every((item, i) => item === live[i]) ? live : merged
}

interface IndexedList {
  readonly items: readonly unknown[]
  readonly elements: readonly PathElement[]
  /** Null for items with duplicate keys: none of them can be merged with an applied item. */
  readonly byElement: ReadonlyMap<PathElement, unknown>
}

function index(list: readonly unknown[], type: ListType): IndexedList {
  const items: unknown[] = []
  const elements: PathElement[] = []
  const byElement = new Map<PathElement, unknown>()
  for (const item of list) {
    const element = elementOf(type, item)
    if (element === undefined) continue
    items.push(item)
    elements.push(element)
    byElement.set(element, byElement.has(element) ? null : item)
  }
  return { items, elements, byElement }
}

class Interleaving {
  readonly live: IndexedList
  readonly applied: IndexedList
  readonly type: ListType
  readonly out: unknown[] = []
  readonly taken = new Set<PathElement>()
  /** The items of both lists, in applied order. */
  readonly shared: readonly PathElement[]
  nextShared = 0

  constructor(live: IndexedList, applied: IndexedList, type: ListType) {
    this.live = live
    this.applied = applied
    this.type = type
    this.shared = applied.elements.filter(element => live.byElement.has(element))
  }

  run(): unknown[] {
    const { live, applied, taken } = this
    let l = 0
    let a = 0
    while (l < live.elements.length || a < applied.elements.length) {
      const fromLive = live.elements[l]
      const fromApplied = applied.elements[a]
      if (fromLive !== undefined && fromApplied !== undefined) {
        if (fromLive === fromApplied) {
          this.take(fromLive)
          this.nextShared++
          l++
          a++
          continue
        }
        // A shared item whose applied position has not been reached yet.
        const expected = this.shared[this.nextShared]
        if (applied.byElement.has(fromLive) && expected !== undefined && expected !== fromLive) {
          l++
          continue
        }
      }
      if (fromLive !== undefined) {
        if (!applied.byElement.has(fromLive)) {
          this.out.push(live.items[l])
          l++
          continue
        }
        if (taken.has(fromLive)) l++
      }
      if (fromApplied !== undefined) {
        this.take(fromApplied)
        a++
        if (this.shared[this.nextShared] === fromApplied) this.nextShared++
      }
    }
    return this.out
  }

  take(element: PathElement): void {
    this.taken.add(element)
    const { live, applied, type } = this
    this.out.push(merge(live.byElement.get(element), applied.byElement.get(element), type.element))
  }
}
