// SPDX-License-Identifier: Apache-2.0

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
 * The seam for server-side apply: keeps metadata.managedFields and merges applied configurations. `track` runs on every
 * create and update after admission changed the object; `apply` merges a configuration into the live object.
 */
export interface FieldOwnership {
  track(draft: KubeObject, live: KubeObject | undefined, write: FieldWrite): void
  /** Throws an ApiError on conflicts that `force` does not override. */
  apply(
    live: KubeObject | undefined,
    configuration: KubeObject,
    write: FieldWrite & { readonly force: boolean },
  ): KubeObject
}
