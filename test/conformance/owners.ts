// SPDX-License-Identifier: Apache-2.0

import type { Document, JsonObject } from './json.ts'

/** Returns the managed fields without times: `manager operation subresource` and the fields. */
export function ownersOf(document: Document): Record<string, unknown> {
  const entries = (document.at('metadata.managedFields') ?? []) as JsonObject[]
  return Object.fromEntries(
    entries.map(({ manager, operation, subresource, fieldsV1 }) => [
      [manager, operation, subresource].filter(Boolean).join(' '),
      fieldsV1,
    ]),
  )
}

/** Returns the names of the managers. */
export function ownerNames(document: Document): string[] {
  return Object.keys(ownersOf(document))
}
