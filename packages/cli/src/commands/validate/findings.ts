// SPDX-License-Identifier: Apache-2.0

// Converts the causes of a rejection into findings for people. Some causes have no usable field, or repeat one mistake
// at several fields. A finding reports each mistake once, at the value to change. `-o json` prints the original causes.
import { type AdmissionResponse, type Cause, type GroveKind, kinds } from '@grove/api'
import { valueAt } from '../../manifests/field-path.ts'
import { isObject } from '../../manifests/manifest-value.ts'
import { findingsOfSet } from './set-findings.ts'
import { similarField } from './similar-field.ts'
import { wrongAncestor } from './wrong-type.ts'

export interface Finding {
  readonly text: string
  /** Path of the value to change. */
  readonly at: string
  /** Path of another value to compare with. */
  readonly first?: string
  readonly advice?: string
}

export interface Rejected {
  readonly kind: string
  readonly object: unknown
  readonly oldObject: unknown
}

/** Returns one finding for each mistake, and none if the response has no fields. */
export function findingsOf({ causes = [] }: AdmissionResponse, rejected: Rejected): Finding[] {
  const found = new Map<string, Finding>()
  for (const cause of causes)
    for (const finding of findingsOfCause(cause, rejected)) found.set(finding.text, finding)
  const findings = [...found.values()]
  const complete = findings.filter(({ text }) => !text.includes(incompleteRemark))
  return complete.length > 0 ? complete : findings
}

/** The API server appends this cause if it did not evaluate all rules. */
const incompleteRemark = 'some validation rules were not checked because the object was invalid'

function findingsOfCause(cause: Cause, rejected: Rejected): readonly Finding[] {
  const { kind, object } = rejected
  const ofSet = kind === kinds.podCliqueSet.kind ? findingsOfSet(cause, object) : undefined
  return (
    ofSet ?? [
      unknownField(cause, rejected) ??
        missingValue(cause) ??
        badQuantity(cause, object) ??
        other(cause, rejected),
    ]
  )
}

function unknownField({ field, message }: Cause, { kind, object }: Rejected): Finding | undefined {
  if (!message.startsWith('unknown field ')) return undefined
  const wrong = wrongAncestor(kind as GroveKind, field, object)
  if (wrong) return wrong
  const similar = similarField(kind as GroveKind, field, object)
  return { text: message, at: field, ...(similar !== undefined && { advice: `did you mean ${similar}?` }) }
}

/** The defaulting webhook writes null for a missing list, which the schema then reports as a wrong type. */
function missingValue({ field, message }: Cause): Finding | undefined {
  return /must be of type \w+: "null"$/.test(message)
    ? { text: `${field}: Required value`, at: field }
    : undefined
}

function badQuantity({ field, message }: Cause, object: unknown): Finding | undefined {
  if (!message.startsWith('quantities must match the regular expression')) return undefined
  const value = JSON.stringify(valueAt(object, field))
  return { text: `${field}: Invalid value: ${value}: must be a quantity such as 8, 500m or 2Gi`, at: field }
}

function other({ field, message }: Cause, { object, oldObject }: Rejected): Finding {
  // Rules in CRDs report paths with a dot at the start.
  const path = field.replace(/^\./, '')
  return {
    text: path === '' ? message : `${path}: ${message}`,
    at: placeOf(path, message, object, oldObject),
  }
}

/** Some rules report a list instead of the value in it. The message contains the value, so search for it. */
function placeOf(field: string, message: string, object: unknown, oldObject: unknown): string {
  const value = namedValue(message)
  if (value === undefined) return field
  const places = placesBelow(object, field, value)
  const changed = places.find(place => !sameAsBefore(place, object, oldObject))
  return changed ?? places[0] ?? field
}

function namedValue(message: string): unknown {
  const [, json, number] =
    /^Invalid value: (?:("(?:[^"\\]|\\.)*"|\[(?:[^"\]]|"(?:[^"\\]|\\.)*")*\])|(-?\d+))(?::|$)/.exec(
      message,
    ) ?? []
  if (json !== undefined) return parsed(json)
  if (number !== undefined) return Number(number)
  return /name '([^']+)' is not allowed$/.exec(message)?.[1]
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}

/** Paths of the value: at the field itself, one level below, or at the same field of each list item along the path. */
function placesBelow(object: unknown, field: string, value: unknown): string[] {
  const here = valueAt(object, field)
  if (isSame(here, value)) return [field]
  if (Array.isArray(here))
    return here.flatMap((item, index) =>
      item === value || (isObject(item) && item.name === value) ? [`${field}[${index}]`] : [],
    )
  if (isObject(here))
    return Object.keys(here)
      .filter(key => key === value || here[key] === value)
      .map(key => `${field}.${key}`)
  for (let dot = field.indexOf('.'); dot > 0; dot = field.indexOf('.', dot + 1)) {
    const list = valueAt(object, field.slice(0, dot))
    if (!Array.isArray(list)) continue
    const rest = field.slice(dot + 1)
    return list.flatMap((item, index) =>
      placesBelow(item, rest, value).map(place => `${field.slice(0, dot)}[${index}].${place}`),
    )
  }
  return []
}

/** Compares list items by name, because an update may reorder them. */
function sameAsBefore(place: string, object: unknown, oldObject: unknown): boolean {
  const [, list, index, rest] = /^(.*?)\[(\d+)\]\.?(.*)$/.exec(place) ?? []
  const before = list === undefined ? undefined : valueAt(oldObject, list)
  if (list === undefined || !Array.isArray(before)) return false
  const name = valueAt(object, `${list}[${index}].name`)
  const counterpart = before.find(item => isObject(item) && item.name === name)
  return counterpart !== undefined && isSame(valueAt(counterpart, rest ?? ''), valueAt(object, place))
}

/** Compares texts, numbers and lists of them. */
function isSame(a: unknown, b: unknown): boolean {
  return a === b || (Array.isArray(a) && Array.isArray(b) && JSON.stringify(a) === JSON.stringify(b))
}
