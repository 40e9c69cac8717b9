// SPDX-License-Identifier: Apache-2.0

// The canonical form of a pod spec: two specs that create the same pod have the same form. It is a valid spec without
// values that the API server would default. The input is never changed, and every input is accepted. Values of a wrong
// type, or newer than the type table, are kept unchanged.
import { isJsonObject, normalizeQuantity, QuantityError, readQuantity, setOwn } from '@grove/apimachinery'
import { type GoField, type GoStruct, type GoType, goType, jsonFields } from './go-types.ts'
import {
  normalizeContainer,
  normalizeImageVolume,
  normalizePodSpec,
  normalizeVolume,
} from './pod-normalization.ts'
import { emptyMeansAbsent, fieldDefaults, unorderedLists } from './pod-rules.ts'
import { sortMember } from './sorting.ts'

export type CanonicalObject = Record<string, unknown>

/** Returns the canonical value, or undefined if it equals an absent value. */
type Canonicalizer = (value: unknown) => unknown

/** Rules that depend on several fields. They run after all fields of the struct are canonical. */
const normalize: Readonly<Record<string, (object: CanonicalObject) => void>> = {
  'v1.PodSpec': normalizePodSpec,
  'v1.Container': object => normalizeContainer(object, true),
  'v1.EphemeralContainer': object => normalizeContainer(object, false),
  'v1.Volume': normalizeVolume,
  'v1.ImageVolumeSource': normalizeImageVolume,
}

export function canonicalPodSpec(podSpec: unknown): CanonicalObject {
  const canonical = podSpecElement(isJsonObject(podSpec) ? podSpec : {})
  return isJsonObject(canonical) ? canonical : {}
}

/** A map of strings, such as labels. Undefined if it is empty. */
export function canonicalTextMap(map: unknown): CanonicalObject | undefined {
  const canonical = textMapMember(map)
  return isJsonObject(canonical) ? canonical : undefined
}

const elements = new Map<string, Canonicalizer>()

/** For an element of a list or map, which exists even if it is null: null is its zero value. */
function elementOf(type: GoType): Canonicalizer {
  let canonicalize = elements.get(type.name)
  if (!canonicalize) {
    canonicalize = buildElement(type)
    elements.set(type.name, canonicalize)
  }
  return canonicalize
}

function buildElement(type: GoType): Canonicalizer {
  switch (type.kind) {
    case 'scalar':
      return value => (isAbsent(value) ? type.zero : canonicalUnknown(value, 0))
    case 'intOrString':
      return value => (isAbsent(value) ? 0 : canonicalUnknown(value, 0))
    case 'quantity':
      return value => canonicalQuantity(value ?? '0')
    case 'pointer':
      return elementOf(type.element)
    case 'list': {
      const element = elementOf(type.element)
      return value => (Array.isArray(value) ? value.map(element) : canonicalUnknown(value ?? [], 0))
    }
    case 'map': {
      const element = elementOf(type.element)
      return value => (isJsonObject(value) ? mapMembers(value, element) : canonicalUnknown(value ?? {}, 0))
    }
    case 'struct':
      return buildStruct(type)
  }
}

function buildStruct(type: GoStruct): Canonicalizer {
  const members = new Map<string, Canonicalizer>()
  for (const [owner, field] of jsonFields(type)) members.set(field.jsonName, memberOf(owner, field))
  const finish = normalize[type.name]
  const lists = jsonFields(type).flatMap(([owner, { jsonName }]) => {
    const keys = unorderedLists[owner]?.[jsonName]
    return keys ? [{ jsonName, keys }] : []
  })
  return value => {
    if (!isJsonObject(value) && !isAbsent(value)) return canonicalUnknown(value, 0)
    const canonical = mapMembers(isJsonObject(value) ? value : {}, (member, key) => {
      const canonicalize = members.get(key)
      return canonicalize ? canonicalize(member) : dropEmpty(canonicalUnknown(member, 0))
    })
    finish?.(canonical)
    for (const { jsonName, keys } of lists) sortMember(canonical, jsonName, keys)
    return canonical
  }
}

/** For a field of a struct. Returns undefined if the value equals the default of the field. */
function memberOf(owner: string, { jsonName, type }: GoField): Canonicalizer {
  const element = elementOf(type)
  const standard = fieldDefaults[owner]?.[jsonName]
  const dropsEmpty = type.kind !== 'pointer' || emptyMeansAbsent.has(type.element.name)
  return value => {
    if (isAbsent(value)) return undefined
    const canonical = element(value)
    if (canonical === standard) return undefined
    if (!dropsEmpty) return canonical
    if (type.kind === 'quantity' && canonical === '0') return undefined
    if (type.kind === 'scalar' && canonical === type.zero) return undefined
    if (type.kind === 'intOrString' && canonical === 0) return undefined
    return dropEmpty(canonical)
  }
}

function canonicalQuantity(value: unknown): unknown {
  const quantity = readQuantity(value)
  return quantity instanceof QuantityError ? canonicalUnknown(value, 0) : normalizeQuantity(quantity)
}

/** Real pod fields are far less deep. The limit prevents a stack overflow by hostile input. */
const deepest = 100

/** Without a type, only absent, null, an empty list and an empty map are known to be equal. */
function canonicalUnknown(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return isAbsent(value) ? null : value
  if (depth > deepest) return '(nested too deep)'
  if (Array.isArray(value)) return value.map(item => canonicalUnknown(item, depth + 1))
  return mapMembers(value as CanonicalObject, item =>
    isAbsent(item) ? undefined : dropEmpty(canonicalUnknown(item, depth + 1)),
  )
}

function dropEmpty(value: unknown): unknown {
  if (isAbsent(value)) return undefined
  if (Array.isArray(value)) return value.length === 0 ? undefined : value
  return isJsonObject(value) && isEmpty(value) ? undefined : value
}

function mapMembers(
  object: Readonly<Record<string, unknown>>,
  canonicalize: (value: unknown, key: string) => unknown,
): CanonicalObject {
  const result: CanonicalObject = {}
  for (const key of Object.keys(object)) {
    const value = canonicalize(object[key], key)
    if (value !== undefined) setOwn(result, key, value)
  }
  return result
}

function isEmpty(object: CanonicalObject): boolean {
  for (const _key in object) return false
  return true
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null || typeof value === 'function' || typeof value === 'symbol'
}

const podSpecElement = elementOf(goType('v1.PodSpec'))
const textMap = elementOf(goType('map[string]string'))
const textMapMember: Canonicalizer = value => (isAbsent(value) ? undefined : dropEmpty(textMap(value)))
