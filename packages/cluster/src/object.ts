// SPDX-License-Identifier: Apache-2.0

import type { ObjectMeta } from './schema/types.generated.ts'

/** Any API object, as JSON. Objects in the store are frozen. Drafts that are being written are not. */
export interface KubeObject {
  apiVersion?: string
  kind?: string
  metadata: ObjectMeta
  [field: string]: unknown
}

/** An object of a known kind inside the API server, where every object has metadata. */
export type ObjectOf<T> = T & WithMetadata

export interface WithMetadata {
  metadata: ObjectMeta
}

/** The key of an object within its resource. Lists are sorted by it. */
export function objectKey(namespace: string | undefined, name: string): string {
  return namespace ? `${namespace}/${name}` : name
}

export function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    for (const key in value) deepFreeze(value[key])
  }
  return value
}
