// SPDX-License-Identifier: Apache-2.0

// Object names consist of the user's names and indexes, joined by hyphens: `set-0-group-3-clique`. The user's names may
// contain hyphens and numbers, so different parts of a set can produce the same object name. Indexes are unbounded, so
// names are compared as patterns instead of generating them all.

export const anyIndex = Symbol('any index')

/** A name, split at its hyphens. `anyIndex` matches every index. */
export type NamePattern = readonly (string | typeof anyIndex)[]

/**
 * Patterns that differ only in their numbers are compared once for each pair of shapes (positions of their indexes).
 * Realistic sets have fewer than five shapes. The bound keeps the work linear for others, whose further shapes are not
 * compared.
 */
const maximumShapes = 16

export function namePattern(...parts: NamePattern): NamePattern {
  return parts.flatMap((part): NamePattern => (part === anyIndex ? [part] : part.split('-')))
}

/** For each pattern, the position of the first earlier pattern that can produce the same name. */
export function earlierTwins(patterns: readonly NamePattern[]): (number | undefined)[] {
  const twins: (number | undefined)[] = patterns.map(() => undefined)
  for (const alike of bySkeleton(patterns).values()) {
    if (alike.length === 1) continue
    const shapes = [...byShape(alike).values()].slice(0, maximumShapes)
    for (const [one, other] of shapes.flatMap(shape => shapes.map(second => [shape, second] as const))) {
      const open = new Set([...one.open, ...other.open])
      const first = new Map<string, number>()
      for (const { position, indexes } of other.members) {
        const key = keyOf(indexes, open)
        if (!first.has(key)) first.set(key, position)
      }
      for (const { position, indexes } of one.members) {
        const twin = first.get(keyOf(indexes, open))
        if (twin === undefined || twin >= position) continue
        twins[position] = Math.min(twin, twins[position] ?? twin)
      }
    }
  }
  return twins
}

/** A name that both patterns can produce, if there is one. */
export function commonName(one: NamePattern, other: NamePattern): string {
  return one
    .map((token, at) => (token === anyIndex ? other[at] : token))
    .map(token => (token === anyIndex ? '0' : token))
    .join('-')
}

interface Numbers {
  /** Position of the pattern in the input list. */
  readonly position: number
  /** The numbers of the pattern, in order. */
  readonly indexes: NamePattern
}

interface Shape {
  /** Positions in `indexes` that match any index. */
  readonly open: readonly number[]
  readonly members: Numbers[]
}

/** Replica counts, and therefore indexes, have at most ten digits. */
const index = /^(?:0|[1-9]\d{0,9})$/

function isNumber(token: NamePattern[number]): boolean {
  return token === anyIndex || index.test(token)
}

/** Only patterns with the same texts at the same positions can produce the same name. */
function bySkeleton(patterns: readonly NamePattern[]): Map<string, Numbers[]> {
  const found = new Map<string, Numbers[]>()
  patterns.forEach((pattern, position) => {
    const skeleton = pattern.map(token => (isNumber(token) ? '#' : `=${String(token)}`)).join('-')
    entryOf(found, skeleton, () => []).push({ position, indexes: pattern.filter(isNumber) })
  })
  return found
}

function byShape(alike: readonly Numbers[]): Map<string, Shape> {
  const shapes = new Map<string, Shape>()
  for (const numbers of alike) {
    const open = numbers.indexes.flatMap((token, at) => (token === anyIndex ? [at] : []))
    entryOf(shapes, open.join(), () => ({ open, members: [] })).members.push(numbers)
  }
  return shapes
}

function keyOf(indexes: NamePattern, open: ReadonlySet<number>): string {
  return indexes.map((token, at) => (open.has(at) ? '#' : String(token))).join('-')
}

function entryOf<T>(map: Map<string, T>, key: string, make: () => T): T {
  let entry = map.get(key)
  if (entry === undefined) {
    entry = make()
    map.set(key, entry)
  }
  return entry
}
