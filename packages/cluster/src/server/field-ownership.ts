// SPDX-License-Identifier: Apache-2.0

import type { JsonObject } from '@grove/apimachinery'
import type { KubeObject } from '../object.ts'
import type { Resource } from '../registry/resource.ts'

/** Who writes what, for metadata.managedFields. */
export interface FieldWrite {
  readonly resource: Resource
  readonly subresource: string
  readonly manager: string
  readonly now: string
}

/**
 * Keeps metadata.managedFields and merges applied configurations. What admission and the server fill in has no owner, so
 * both run on what the client wants, before anything else changes it.
 */
export interface FieldOwnership {
  /** For every create, update and patch, right after defaults; in place. */
  track(draft: KubeObject, live: KubeObject | undefined, write: FieldWrite): void
  /** Merges a configuration into the live object, owners included; not defaulted. Throws an ApiError on conflicts. */
  apply(
    live: KubeObject | undefined,
    configuration: JsonObject,
    write: FieldWrite & { readonly force: boolean },
  ): KubeObject
  /** After admission: a write that changes nothing but the time of its owner changes nothing. */
  settle(object: KubeObject, live: KubeObject): KubeObject
}
