// SPDX-License-Identifier: Apache-2.0

import type { JsonObject } from '@grove/apimachinery'
import type { ObjectMeta } from '../kubernetes/index.ts'

// Prepares the metadata of an object as an API server does before admission: it sets the fields that clients cannot
// set.

/** The API server truncates `generateName` to this length, then appends five random characters. */
const generatedPrefixLimit = 58
const generatedSuffix = 'xxxxx'

/** Metadata of a new object: without fields that only the API server sets. */
export function newMetadata(metadata: ObjectMeta): ObjectMeta {
  const {
    uid: _uid,
    resourceVersion: _resourceVersion,
    generation: _generation,
    creationTimestamp: _creationTimestamp,
    deletionTimestamp: _deletionTimestamp,
    deletionGracePeriodSeconds: _deletionGracePeriodSeconds,
    managedFields: _managedFields,
    selfLink: _selfLink,
    ...own
  } = metadata
  return own
}

/** Metadata of an updated object: identity and deletion come from the stored object. */
export function changedMetadata(metadata: ObjectMeta, old: ObjectMeta): ObjectMeta {
  const changed: ObjectMeta = { ...metadata, uid: metadata.uid ?? old.uid }
  for (const key of [
    'generation',
    'creationTimestamp',
    'deletionTimestamp',
    'deletionGracePeriodSeconds',
  ] as const) {
    delete changed[key]
    if (old[key] !== undefined) Object.assign(changed, { [key]: old[key] })
  }
  if (changed.uid === undefined) delete changed.uid
  return changed
}

/** Ensures a name. If the API server would generate it, the placeholder has the right length for the name limits. */
export function named<T extends { metadata: ObjectMeta }>(object: T): T {
  const { metadata } = object
  if (metadata.name) return object
  const { generateName } = metadata
  const name = generateName ? generateName.slice(0, generatedPrefixLimit) + generatedSuffix : ''
  return { ...object, metadata: { ...metadata, name } }
}

/** Clients write the status through its own subresource only. */
export function withStatusOf(object: JsonObject, old: JsonObject | undefined): JsonObject {
  const { status: _ignored, ...rest } = object
  return old?.status === undefined ? rest : { ...rest, status: old.status }
}
