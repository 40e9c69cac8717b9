// SPDX-License-Identifier: Apache-2.0
import type { Budget } from './budget.ts'

/**
 * The number of entities of each type that a set of nodes can hold together, and the counted domains in use. The first
 * `width` numbers are entities, the others are domain counters.
 */
export type Vector = Int32Array

/** The vectors that no other vector covers: more entities, or fewer domains, is better. */
export type Profile = readonly Vector[]

/** Reports whether `left` holds at least what `right` holds, with at most as many counted domains. */
export function covers(left: Vector, right: Vector, width: number): boolean {
  for (let i = 0; i < width; i++) if (left[i]! < right[i]!) return false
  for (let i = width; i < right.length; i++) if (left[i]! > right[i]!) return false
  return true
}

/** Keeps the vectors that no other covers. With a beam, keeps only the largest: then the profile is incomplete. */
export function maximal(vectors: Vector[], width: number, budget: Budget, beam: number): Vector[] {
  if (vectors.length <= 1) return vectors
  const size = (vector: Vector) => {
    let sum = 0
    for (let i = 0; i < vector.length; i++) sum += i < width ? vector[i]! * 64 : -vector[i]!
    return sum
  }
  const sorted = vectors.map(vector => ({ vector, size: size(vector) }))
  sorted.sort((left, right) => right.size - left.size || compareVectors(left.vector, right.vector))
  const kept: Vector[] = []
  for (const { vector } of sorted) {
    if (kept.length >= beam) break
    let covered = false
    for (let i = 0; i < kept.length && !covered; i++) covered = covers(kept[i]!, vector, width)
    budget.spend(1 + (kept.length >> 4))
    if (!covered) kept.push(vector)
  }
  return kept
}

function compareVectors(left: Vector, right: Vector): number {
  for (let i = 0; i < left.length; i++) if (left[i] !== right[i]) return right[i]! - left[i]!
  return 0
}

/** The profile of two disjoint sets of nodes, clipped to the demand. Drops vectors above the limit of a counter. */
export function addProfiles(
  left: Profile,
  right: Profile,
  demand: Vector,
  limits: readonly number[],
  budget: Budget,
  beam: number,
): Vector[] {
  const width = demand.length - limits.length
  const sums: Vector[] = []
  const seen = left.length * right.length > 8 ? new Set<string>() : undefined
  for (const a of left) {
    next: for (const b of right) {
      budget.spend(1)
      const sum = new Int32Array(a.length)
      for (let i = 0; i < width; i++) sum[i] = Math.min(a[i]! + b[i]!, demand[i]!)
      for (let i = width; i < sum.length; i++) {
        sum[i] = a[i]! + b[i]!
        if (sum[i]! > limits[i - width]!) continue next
      }
      if (seen) {
        const key = sum.join()
        if (seen.has(key)) continue
        seen.add(key)
      }
      sums.push(sum)
    }
  }
  return maximal(sums, width, budget, beam)
}

export function equalProfiles(left: Profile, right: Profile): boolean {
  return (
    left.length === right.length &&
    left.every((vector, index) => {
      const other = right[index]!
      for (let i = 0; i < vector.length; i++) if (vector[i] !== other[i]) return false
      return true
    })
  )
}
