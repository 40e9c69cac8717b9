// SPDX-License-Identifier: Apache-2.0

import { goTypeOf, goValue } from '../apply/go-text.ts'
import type { JsonObject } from '../json-value.ts'

/**
 * The patch cannot be merged. `code` is the status code of the API server's response, which has no reason if
 * it is 500.
 */
export class StrategicMergeError extends Error {
  override readonly name = 'StrategicMergeError'
  readonly code: 400 | 422 | 500

  constructor(code: 400 | 422 | 500, message: string) {
    super(message)
    this.code = code
  }
}

/** All errors of a patch, with the messages of the API server. */
export const mergeErrors = {
  primitiveList: () => new StrategicMergeError(400, 'invalid patch format of primitive list'),
  retainKeys: () => new StrategicMergeError(400, 'invalid patch format of retainKeys'),
  elementOrder: () => new StrategicMergeError(400, 'invalid patch format of setElementOrder list'),
  listsOfLists: () => new StrategicMergeError(422, 'lists of lists are not supported'),
  noMergeKey: (item: JsonObject, key: string) =>
    internal(`map: ${goValue(item)} does not contain declared merge key: ${key}`),
  notAMap: (value: unknown) =>
    internal(`expected a map[string]interface {}, but received a ${goTypeOf(value)}`),
  notAList: (value: unknown) => internal(`expected a []interface {}, but received a ${goTypeOf(value)}`),
  unknownDirective: (directive: unknown, patch: JsonObject) =>
    internal(`unknown patch type: ${goValue(directive)} in map: ${goValue(patch)}`),
  mergeDirectiveInList: () => internal('merging lists cannot yet be specified in the patch'),
  orderMismatch: (patch: unknown, order: unknown) =>
    internal(
      `The order in patch list:\n${goValue(patch)}\n doesn't match $setElementOrder list:\n${goValue(order)}\n`,
    ),
  mixedTypes: (...lists: readonly unknown[]) =>
    internal(`list element types are not identical: ${goValue(lists)}`),
  noElements: () => internal('no elements in any of the given slices'),
  keyOfNonMap: (place: number) => internal(`value for key ${place} is not a map`),
  noKeyDeclared: (type: string) => internal(`cannot merge lists without merge key for ${type}`),
  notAStruct: (kind: string) =>
    internal(`merging an object in json but data type is not struct, instead is: ${kind}`),
  unknownField: (struct: string, field: string) =>
    internal(`unable to find api field in struct ${struct} for the json field "${field}"`),
  notASlice: (kind: string) => internal(`expected slice or array type, but got: ${kind}`),
  sliceOfSlices: () => internal('unexpected slice of slice'),
}

function internal(message: string): StrategicMergeError {
  return new StrategicMergeError(500, message)
}
