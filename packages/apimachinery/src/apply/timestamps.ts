// SPDX-License-Identifier: Apache-2.0

import { equalJson, isJsonObject, type JsonObject } from '../json-value.ts'
import type { ManagedFieldsEntry } from './managed-fields.ts'
import { metadataOf, withManagedFields, withoutManagedFields } from './track-update.ts'

/**
 * Returns the object to store after admission. A write that only changes times in managedFields keeps the old
 * times.
 */
export function withoutTimeOnlyChanges(object: JsonObject, live: JsonObject): JsonObject {
  const current = metadataOf(object).managedFields
  const old = metadataOf(live).managedFields
  if (!Array.isArray(current) || !Array.isArray(old) || current.length !== old.length || old.length === 0)
    return object
  if (!current.every((entry, i) => equalJson(withoutTime(entry), withoutTime(old[i])))) return object
  if (!equalJson(withoutManagedFields(object), withoutManagedFields(live))) return object
  return withManagedFields(object, old as ManagedFieldsEntry[])
}

function withoutTime(entry: unknown): unknown {
  if (!isJsonObject(entry)) return entry
  const { time: _, ...rest } = entry
  return rest
}
