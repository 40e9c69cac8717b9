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

/** Vectors by their content. */
class VectorSet {
  readonly #byHash = new Map<number, Vector[]>()

  has(vector: Vector): boolean {
    return this.#byHash.get(hashOf(vector))?.some(known => isEqual(known, vector)) ?? false
  }

  add(vector: Vector): void {
    const hash = hashOf(vector)
    const known = this.#byHash.get(hash)
    if (known) known.push(vector)
    else this.#byHash.set(hash, [vector])
  }
}

function hashOf(vector: Vector): number {
  let hash = 0
  for (let i = 0; i < vector.length; i++) hash = (Math.imul(hash, 31) + vector[i]!) | 0
  return hash
}

function isEqual(left: Vector, right: Vector): boolean {
  for (let i = 0; i < left.length; i++) if (left[i] !== right[i]) return false
  return true
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
  const seen = left.length * right.length > 8 ? new VectorSet() : undefined
  const sum = new Int32Array(demand.length)
  for (const a of left) {
    next: for (const b of right) {
      budget.spend(1)
      for (let i = 0; i < width; i++) {
        const both = a[i]! + b[i]!
        sum[i] = both < demand[i]! ? both : demand[i]!
      }
      for (let i = width; i < sum.length; i++) {
        sum[i] = a[i]! + b[i]!
        if (sum[i]! > limits[i - width]!) continue next
      }
      if (seen?.has(sum)) continue
      const kept = sum.slice()
      seen?.add(kept)
      sums.push(kept)
    }
  }
  return maximal(sums, width, budget, beam)
}

export function equalProfiles(left: Profile, right: Profile): boolean {
  return left.length === right.length && left.every((vector, index) => isEqual(vector, right[index]!))
}
