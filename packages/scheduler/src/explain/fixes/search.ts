// SPDX-License-Identifier: Apache-2.0

// The search for the smallest change of one kind that lets a gang run.
import type { Model } from '../../model/model.ts'
import type { Shape } from '../../model/shapes.ts'
import type { GangTask } from '../../planner/gang-demand.ts'
import type { Fix, Gang, Snapshot } from '../../types.ts'

export interface Search {
  readonly model: Model
  readonly task: GangTask
  /** Shapes of the pods that can form the missing minimum. */
  readonly shapes: ReadonlySet<Shape>
  /** All nodes, those of the domains that come closest to holding the gang first. */
  readonly nearest: readonly number[]
  /** Earlier gangs are scheduled by the same plan. */
  readonly hasEarlier: boolean
  /**
   * A larger change of the same kind always works too. Not with earlier gangs that wait, which may take the room, nor with
   * rules between pods.
   */
  readonly isMonotone: boolean
  readonly snapshot: Snapshot
  readonly gang: Gang
  readonly works: (fix: Fix) => boolean
}

/** Sets of at most this many items are searched item by item. */
export const fewItems = 32

/**
 * A small working set: single items, pairs of few items, then a set from which no item can be left out. For large lists
 * the first items that work together are used. If the search is not monotone, a small set may work although all items do not.
 */
export function smallestSet<Item>(
  items: readonly Item[],
  fixOf: (chosen: readonly Item[]) => Fix,
  { works, isMonotone }: Pick<Search, 'works' | 'isMonotone'>,
): Fix | undefined {
  if (items.length === 0) return undefined
  const isEnough = works(fixOf(items))
  if (!isEnough && isMonotone) return undefined
  for (const item of items.slice(0, fewItems)) if (works(fixOf([item]))) return fixOf([item])
  if (items.length <= 8)
    for (let i = 0; i < items.length; i++)
      for (let j = i + 1; j < items.length; j++) {
        const pair = fixOf([items[i]!, items[j]!])
        if (works(pair)) return pair
      }
  if (!isEnough) return undefined
  let kept = items.slice(
    0,
    smallestNumber(1, items.length, count => works(fixOf(items.slice(0, count)))),
  )
  for (const item of kept.slice(0, fewItems)) {
    const without = kept.filter(other => other !== item)
    if (without.length > 0 && works(fixOf(without))) kept = without
  }
  return fixOf(kept)
}

/** The smallest number that works, if all larger ones work too. The largest is known to work. */
function smallestNumber(from: number, to: number, works: (count: number) => boolean): number {
  if (from < to && works(from)) return from
  let low = Math.min(from + 1, to)
  let high = to
  while (low < high) {
    const middle = (low + high) >> 1
    if (works(middle)) high = middle
    else low = middle + 1
  }
  return high
}

/** At most this many numbers are tried one by one. */
const fewNumbers = 8

/** The smallest number that works, if the largest works or the search is not monotone. */
export function smallestWorking(
  from: number,
  to: number,
  isMonotone: boolean,
  works: (count: number) => boolean,
): number | undefined {
  if (works(to)) return smallestNumber(from, to, works)
  if (isMonotone) return undefined
  for (let count = from; count < Math.min(to, from + fewNumbers); count++) if (works(count)) return count
  return undefined
}
