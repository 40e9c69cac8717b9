// SPDX-License-Identifier: Apache-2.0

import type { JsonObject } from '@grove/apimachinery'
import type { ObjectMeta } from '../kubernetes/index.ts'

// What an API server does with the metadata of an object before anybody judges it: members that are its own are set
// by it, whatever the client sent.

/** As the API server makes names from `generateName`: cut, then five random characters. */
const generatedPrefixLimit = 58
const generatedSuffix = 'xxxxx'

/** A new object has no history. */
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

/** A changed object keeps what tells it apart and whether it is being deleted. */
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

/** With a name in any case: of the right length where the API server would make one, so that limits can be judged. */
export function named<T extends { metadata: ObjectMeta }>(object: T): T {
  const { metadata } = object
  if (metadata.name) return object
  const { generateName } = metadata
  const name = generateName ? generateName.slice(0, generatedPrefixLimit) + generatedSuffix : ''
  return { ...object, metadata: { ...metadata, name } }
}

/** The status is written through its own subresource only. */
export function withStatusOf(object: JsonObject, old: JsonObject | undefined): JsonObject {
  const { status: _ignored, ...rest } = object
  return old?.status === undefined ? rest : { ...rest, status: old.status }
}
