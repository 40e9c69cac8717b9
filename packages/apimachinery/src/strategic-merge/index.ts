// SPDX-License-Identifier: Apache-2.0

// Strategic merge patches: like merge patches, but lists of objects are merged by a key that the type of the field
// names, and directives in the patch say where that is not wanted.
import type { GoStruct } from '../apply/struct-type.ts'
import type { JsonObject } from '../json-value.ts'
import { mergeObject } from './merge-object.ts'

export { StrategicMergeError } from './error.ts'

/**
 * The patched object; the inputs stay as they are. Throws a StrategicMergeError.
 *
 * The result is not decoded: it may have nulls and directives in parts that the patch brought as a whole, which
 * decoding drops.
 */
export function applyStrategicMerge(original: JsonObject, patch: JsonObject, struct: GoStruct): JsonObject {
  return mergeObject(original, patch, { kind: 'struct', struct })
}
