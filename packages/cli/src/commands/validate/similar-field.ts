// SPDX-License-Identifier: Apache-2.0

// Suggests the field that the user probably meant instead of an unknown field.
import { type GroveKind, type StructuralSchema, schemaOf } from '@grove/api'
import { firstIndex, firstKey } from '../../manifests/field-path.ts'
import { isObject } from '../../manifests/manifest-value.ts'
import { similarName } from '../../manifests/similar-name.ts'

/** Returns a sibling field with a similar name, or the only missing required field. */
export function similarField(kind: GroveKind, field: string, object: unknown): string | undefined {
  const siblings = siblingsOf(schemaOf(kind), field, object)
  if (!siblings) return undefined
  const { written, known, required } = siblings
  return similarName(written, known) ?? (required.length === 1 ? required[0] : undefined)
}

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
