// SPDX-License-Identifier: Apache-2.0

// Sets of field paths as trees: the fields that a manager owns or that a change affects. Sets are immutable.
// Operations share parts with their inputs.
import type { FieldType } from './field-type.ts'
import {
  type FieldPath,
  fieldElement,
  fieldNameOf,
  isKeyElement,
  type PathElement,
  sortElements,
} from './path-element.ts'

/** The entry of one element: whether it is a member itself, and the members below it. */
export interface FieldEntry {
  readonly member: boolean
  readonly below: FieldSet | undefined
}

/** No entry is empty: each is a member, or has members below, or both. */
export type FieldSet = ReadonlyMap<PathElement, FieldEntry>

/** A mutable set under construction. */
export type FieldSetDraft = Map<PathElement, FieldEntry>

export const emptySet: FieldSet = new Map()
export const leafEntry: FieldEntry = { member: true, below: undefined }

export function isEmptySet(set: FieldSet): boolean {
  return set.size === 0
}

export function setOf(...paths: readonly FieldPath[]): FieldSet {
  const set: FieldSetDraft = new Map()
  for (const path of paths) insertPath(set, path)
  return set
}

/** Builds a set from plain field paths: `fields('status')`, `fields('metadata.name')`. */
export function fields(...paths: readonly string[]): FieldSet {
  return setOf(...paths.map(path => path.split('.').map(fieldElement)))
}

/** The empty path is in no set, because the whole object is not a field. */
export function insertPath(set: FieldSetDraft, path: FieldPath): void {
  let at = set
  for (let i = 0; i < path.length; i++) {
    const element = path[i]!
    const entry = at.get(element)
    if (i === path.length - 1) {
      if (!entry?.member) at.set(element, { member: true, below: entry?.below })
      return
    }
    let below = entry?.below as FieldSetDraft | undefined
    if (!below) {
      below = new Map()
      at.set(element, { member: entry?.member ?? false, below })
    }
    at = below
  }
}

export function insertMember(set: FieldSetDraft, element: PathElement): void {
  const entry = set.get(element)
  if (!entry) set.set(element, leafEntry)
  else if (!entry.member) set.set(element, { member: true, below: entry.below })
}

export function hasPath(set: FieldSet, path: FieldPath): boolean {
  let at: FieldSet | undefined = set
  for (let i = 0; i < path.length - 1; i++) at = at?.get(path[i]!)?.below
  return at?.get(path[path.length - 1]!)?.member ?? false
}

export function union(a: FieldSet, b: FieldSet): FieldSet {
  if (a.size === 0 || a === b) return b
  if (b.size === 0) return a
  const result: FieldSetDraft = new Map(a)
  for (const [element, right] of b) {
    const left = a.get(element)
    if (!left) {
      result.set(element, right)
      continue
    }
    const below = left.below && right.below ? union(left.below, right.below) : (left.below ?? right.below)
    put(result, element, left, left.member || right.member, below)
  }
  return result
}

export function intersection(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b) return a
  const result: FieldSetDraft = new Map()
  for (const [element, left] of a) {
    const right = b.get(element)
    if (!right) continue
    const below = left.below && right.below ? intersection(left.below, right.below) : undefined
    put(result, element, left, left.member && right.member, below)
  }
  return result
}

/** A member of `b` removes only itself from `a`, not the members below it. */
export function difference(a: FieldSet, b: FieldSet): FieldSet {
  if (b.size === 0 || a.size === 0) return a
  const result: FieldSetDraft = new Map()
  for (const [element, left] of a) {
    const right = b.get(element)
    if (!right) {
      result.set(element, left)
      continue
    }
    const below = left.below && right.below ? difference(left.below, right.below) : left.below
    put(result, element, left, left.member && !right.member, below)
  }
  return result
}

/** A member of `b` removes itself and all members below it from `a`. */
export function recursiveDifference(a: FieldSet, b: FieldSet): FieldSet {
  if (b.size === 0 || a.size === 0) return a
  const result: FieldSetDraft = new Map()
  for (const [element, left] of a) {
    const right = b.get(element)
    if (!right) result.set(element, left)
    else if (!right.member) {
      const below = left.below && right.below ? recursiveDifference(left.below, right.below) : left.below
      put(result, element, left, left.member, below)
    }
  }
  return result
}

function put(
  set: FieldSetDraft,
  element: PathElement,
  old: FieldEntry,
  member: boolean,
  below: FieldSet | undefined,
): void {
  const kept = below && below.size > 0 ? below : undefined
  if (!member && !kept) set.delete(element)
  else if (member === old.member && kept === old.below) set.set(element, old)
  else set.set(element, { member, below: kept })
}

/**
 * Adds the declared fields on the path to each member. For removals they must be members, so that a struct
 * whose last field is removed disappears too.
 */
export function ensureNamedFields(set: FieldSet, type: FieldType | undefined): FieldSet {
  const result: FieldSetDraft = new Map()
  for (const [element, { member, below }] of set) {
    if (!below) {
      result.set(element, leafEntry)
      continue
    }
    const name = fieldNameOf(element)
    const field = name === undefined ? undefined : type?.map?.fields.get(name)
    let inner: FieldType | undefined
    if (name !== undefined) inner = field?.type ?? type?.map?.element
    else if (isKeyElement(element)) inner = type?.list?.element
    result.set(element, { member: member || field !== undefined, below: ensureNamedFields(below, inner) })
  }
  return result
}

/** Yields every member in the order of the API server, parents before children. */
export function* pathsOf(set: FieldSet, prefix: FieldPath = []): Generator<FieldPath> {
  const sorted = sortElements(set.keys())
  for (const element of sorted) if (set.get(element)!.member) yield [...prefix, element]
  for (const element of sorted) {
    const { below } = set.get(element)!
    if (below) yield* pathsOf(below, [...prefix, element])
  }
}

export function equalSets(a: FieldSet, b: FieldSet): boolean {
  if (a === b) return true
  if (a.size !== b.size) return false
  for (const [element, left] of a) {
    const right = b.get(element)
    if (!right || left.member !== right.member) return false
    if (!equalSets(left.below ?? emptySet, right.below ?? emptySet)) return false
  }
  return true
}
