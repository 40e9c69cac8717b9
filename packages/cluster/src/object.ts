// SPDX-License-Identifier: Apache-2.0

import type { ObjectMeta } from './schema/types.generated.ts'

/** Any object of the API, as JSON. What the store holds is frozen; drafts on their way into it are not. */
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

/** Where an object stands within its resource; also the order of lists. */
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
