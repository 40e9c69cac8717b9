// SPDX-License-Identifier: Apache-2.0

// Lists the differences between two values for people to read. List elements are named, not numbered, and possibly
// secret values are hidden.
import { isJsonObject } from '@grove/apimachinery'
import { canonicalJson } from './canonical-json.ts'
import { objectOf } from './input.ts'

export interface FieldChange {
  /** `spec.template.cliques[decode].spec.podSpec.containers[main].image` */
  readonly path: string
  readonly change: 'added' | 'removed' | 'changed' | 'reordered'
  /** Short texts of the values. Absent if there is no single value, or if it may be secret. */
  readonly from?: string
  readonly to?: string
}

/** One line: `containers[main].image: app:1 → app:2`, `env[TOKEN].value: (changed)`. */
export function describeFieldChange({ path, change, from, to }: FieldChange): string {
  if (from !== undefined && to !== undefined) return `${path}: ${from} → ${to}`
  const value = from ?? to
  return value === undefined ? `${path}: (${change})` : `${path}: (${change}) ${value}`
}

/** The fields that identify an element, by the name of the list. */
const identities: Readonly<Record<string, readonly string[]>> = {
  ports: ['containerPort', 'protocol'],
  volumeMounts: ['mountPath'],
  volumeDevices: ['devicePath'],
  resizePolicy: ['resourceName'],
  hostAliases: ['ip'],
  topologySpreadConstraints: ['topologyKey', 'whenUnsatisfiable'],
}

/** Lists whose elements have a possibly secret value. */
const secretLists: ReadonlySet<string> = new Set(['env', 'httpHeaders'])
/** Maps and lists of free text. Their content is checked before it is printed. */
const freeTexts: ReadonlySet<string> = new Set([
  'labels',
  'annotations',
  'volumeAttributes',
  'options',
  'args',
  'command',
])
const secretLike = /passw|secret|token|credential|(api|access|private)[-_]?key/i

interface Place {
  readonly path: string
  /** Field name of this value, or of the list or map that contains it. */
  readonly member: string
  readonly hidden: boolean
}

/** All differences. `isOrdered` reports by name whether the order of a list is significant. */
export function fieldChanges(
  path: string,
  from: unknown,
  to: unknown,
  isOrdered: (member: string) => boolean = () => true,
): FieldChange[] {
  const changes: FieldChange[] = []
  const member = path.slice(path.lastIndexOf('.') + 1)
  compare({ path, member, hidden: false }, from ?? undefined, to ?? undefined)
  return changes

  function compare(place: Place, left: unknown, right: unknown): void {
    if (left === right) return
    if (left === undefined || right === undefined) report(place, left, right)
    else if (Array.isArray(left) && Array.isArray(right)) compareLists(place, left, right)
    else if (isJsonObject(left) && isJsonObject(right)) compareMaps(place, left, right)
    else report(place, left, right)
  }

  function compareMaps(place: Place, left: Members, right: Members): void {
    for (const key of new Set([...Object.keys(left), ...Object.keys(right)]))
      compare(memberPlace(place, key), left[key] ?? undefined, right[key] ?? undefined)
  }

  function compareLists(place: Place, left: readonly unknown[], right: readonly unknown[]): void {
    if (canonicalJson(left) === canonicalJson(right)) return
    const before = byIdentity(place.member, left)
    const after = byIdentity(place.member, right)
    if (!before || !after) {
      compareByPosition(place, left, right)
      return
    }
    for (const name of new Set([...before.keys(), ...after.keys()]))
      compare(elementPlace(place, name), before.get(name), after.get(name))
    const kept = [...before.keys()].filter(name => after.has(name))
    const now = [...after.keys()].filter(name => before.has(name))
    if (isOrdered(place.member) && kept.some((name, index) => name !== now[index]))
      changes.push({ path: place.path, change: 'reordered' })
  }

  function compareByPosition(place: Place, left: readonly unknown[], right: readonly unknown[]): void {
    if (left.every(isScalar) && right.every(isScalar)) report(place, left, right)
    else
      for (let index = 0; index < Math.max(left.length, right.length); index++)
        compare(elementPlace(place, String(index)), left[index], right[index])
  }

  function report(place: Place, left: unknown, right: unknown): void {
    const change = left === undefined ? 'added' : right === undefined ? 'removed' : 'changed'
    const before = shortText(place, left)
    const after = shortText(place, right)
    // One of two values alone would mislead.
    const shown = change !== 'changed' || (before !== undefined && after !== undefined)
    changes.push({
      path: place.path,
      change,
      ...(shown && before !== undefined ? { from: before } : {}),
      ...(shown && after !== undefined ? { to: after } : {}),
    })
  }
}

type Members = Readonly<Record<string, unknown>>

function memberPlace(place: Place, key: string): Place {
  const plain = /^[A-Za-z]\w*$/.test(key) && !freeTexts.has(place.member)
  return {
    path: plain ? `${place.path}.${key}` : `${place.path}[${key}]`,
    member: freeTexts.has(place.member) ? place.member : key,
    hidden: place.hidden || (freeTexts.has(place.member) && secretLike.test(key)),
  }
}

function elementPlace(place: Place, name: string): Place {
  return {
    path: `${place.path}[${name}]`,
    member: place.member,
    hidden: place.hidden || secretLists.has(place.member),
  }
}

/** The elements by name, or undefined if an element has no name or a duplicate one. */
function byIdentity(member: string, list: readonly unknown[]): Map<string, unknown> | undefined {
  const keys = identities[member] ?? ['name']
  const named = new Map<string, unknown>()
  for (const element of list) {
    const parts = keys.map(key => objectOf(element)[key]).filter(part => part !== undefined)
    if (parts.length === 0 || !parts.every(isScalar)) return undefined
    named.set(parts.join('/'), element)
  }
  return named.size === list.length ? named : undefined
}

const longest = 80

/** Only scalars and lists of scalars are printed: larger values may contain anything. */
function shortText(place: Place, value: unknown): string | undefined {
  if (value === undefined || place.hidden) return undefined
  if (!isScalar(value) && !(Array.isArray(value) && value.every(isScalar))) return undefined
  const text = typeof value === 'string' && value !== '' ? value : canonicalJson(value)
  if (freeTexts.has(place.member) && secretLike.test(text)) return undefined
  return text.length > longest ? `${text.slice(0, longest - 1)}…` : text
}

function isScalar(value: unknown): boolean {
  return typeof value !== 'object' || value === null
}
