// SPDX-License-Identifier: Apache-2.0

import type { GoField, GoStruct, GoType } from '../apply/struct-type.ts'
import { mergeErrors } from './error.ts'

/** The patch behaviour of a field: the type of the value or of the list items, and the patch tags of the field. */
export interface PatchField {
  readonly type: GoType
  readonly strategy: '' | 'merge' | 'replace'
  readonly mergeKey: string
}

/** For a field with an object. */
export function objectField(type: GoType, name: string): PatchField {
  return describeField(lookup(type, name))
}

/** For a field with a list; the type is that of its items. */
export function listField(type: GoType, name: string): PatchField {
  const field = lookup(type, name)
  if (field.type.kind !== 'list') throw mergeErrors.notASlice('struct')
  if (field.type.of.kind === 'list') throw mergeErrors.sliceOfSlices()
  return { ...describeField(field), type: field.type.of }
}

function describeField({ type, patchStrategies, patchMergeKey }: GoField): PatchField {
  const strategy = patchStrategies.find(name => name === 'merge' || name === 'replace') ?? ''
  return { type, strategy: strategy as PatchField['strategy'], mergeKey: patchMergeKey ?? '' }
}

function lookup(type: GoType, name: string): GoField {
  if (type.kind !== 'struct') throw mergeErrors.notAStruct(goKind(type))
  const { struct } = type
  const field = struct.fields.get(name) ?? ignoringCase(struct, name)
  if (!field) throw mergeErrors.unknownField(struct.name.slice(struct.name.indexOf('.') + 1), name)
  return field
}

function ignoringCase(struct: GoStruct, name: string): GoField | undefined {
  const wanted = name.toLowerCase()
  for (const [known, field] of struct.fields) if (known.toLowerCase() === wanted) return field
  return undefined
}

/** The Go kind of a type, as in reflect.Kind. */
export function goKind(type: GoType): string {
  switch (type.kind) {
    case 'list':
      return 'slice'
    case 'scalar':
      return type.scalar === 'any' ? 'interface' : type.scalar
    default:
      return type.kind
  }
}
