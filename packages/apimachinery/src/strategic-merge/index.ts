// SPDX-License-Identifier: Apache-2.0

// Strategic merge patches: like merge patches, but lists of objects are merged by the patchMergeKey of the
// field. Directives in the patch change this.
import type { GoStruct } from '../apply/struct-type.ts'
import type { JsonObject } from '../json-value.ts'
import { mergeObject } from './merge-object.ts'

export { StrategicMergeError } from './error.ts'

/**
 * Returns the patched object and does not change the inputs. Throws a StrategicMergeError. The result is not
 * decoded. It may contain nulls and directives in new parts, which decoding drops.
 */
export function applyStrategicMerge(original: JsonObject, patch: JsonObject, struct: GoStruct): JsonObject {
  return mergeObject(original, patch, { kind: 'struct', struct })
}
