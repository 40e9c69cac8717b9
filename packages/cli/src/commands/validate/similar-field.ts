// SPDX-License-Identifier: Apache-2.0

// Suggests the field that the user probably meant instead of an unknown field.
import { type GroveKind, type StructuralSchema, schemaOf } from '@grove/api'
import { firstIndex, firstKey } from '../../manifests/field-path.ts'
import { isObject } from '../../manifests/manifest-value.ts'

/** Returns a sibling field with a similar name, or the only missing required field. */
export function similarField(kind: GroveKind, field: string, object: unknown): string | undefined {
  const siblings = siblingsOf(schemaOf(kind), field, object)
  if (!siblings) return undefined
  const { written, known, required } = siblings
  const lower = written.toLowerCase()
  const ranked = known
    .filter(name => name[0]!.toLowerCase() === lower[0])
    .map(name => ({ name, distance: editDistance(lower, name.toLowerCase()) }))
    .filter(({ distance }) => distance <= maximumDistance)
    .sort((a, b) => a.distance - b.distance)
  return ranked[0]?.name ?? (required.length === 1 ? required[0] : undefined)
}

/** An additional, a missing or two swapped letters. A larger distance is another word. */
const maximumDistance = 2

interface Siblings {
  /** The unknown field. */
  readonly written: string
  /** Fields of the schema that the object does not have. */
  readonly known: readonly string[]
  /** The required ones among them. */
  readonly required: readonly string[]
}

/** Follows the path to its last segment. */
function siblingsOf(
  schema: StructuralSchema | undefined,
  path: string,
  object: unknown,
): Siblings | undefined {
  if (Array.isArray(object)) {
    const step = firstIndex(path)
    return step && siblingsOf(schema?.items, step.rest, object[step.index])
  }
  const step = isObject(object) ? firstKey(Object.keys(object), path) : undefined
  if (!step || !isObject(object)) return undefined
  if (step.rest !== '')
    return siblingsOf(
      schema?.properties?.[step.key] ?? schema?.additionalProperties,
      step.rest,
      object[step.key],
    )
  const isAbsent = (name: string) => !Object.hasOwn(object, name)
  return {
    written: step.key,
    known: Object.keys(schema?.properties ?? {}).filter(isAbsent),
    required: (schema?.required ?? []).filter(isAbsent),
  }
}

/** Number of insertions, deletions and replacements between two texts. */
function editDistance(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > maximumDistance) return maximumDistance + 1
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const current = [i]
    for (let j = 1; j <= b.length; j++)
      current.push(
        Math.min(previous[j]! + 1, current[j - 1]! + 1, previous[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)),
      )
    previous = current
  }
  return previous[b.length]!
}
