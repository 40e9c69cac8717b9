// SPDX-License-Identifier: Apache-2.0

import type { JsonObject } from '@grove/apimachinery'
import type { KubeObject } from '../object.ts'
import type { Resource } from '../registry/resource.ts'

/** The writer of a request, for metadata.managedFields. */
export interface FieldWrite {
  readonly resource: Resource
  readonly subresource: string
  readonly manager: string
  readonly now: string
}

/**
 * Maintains metadata.managedFields and merges applied configurations. Changes by admission and by the server
 * have no owner. Therefore both methods run on the client's object before any other change.
 */
export interface FieldOwnership {
  /** Called for every create, update and patch, right after defaults. Changes the draft in place. */
  track(draft: KubeObject, live: KubeObject | undefined, write: FieldWrite): void
  /**
   * Merges a configuration into the live object, including managedFields. Does not apply defaults. Throws an
   * ApiError on conflicts.
   */
  apply(
    live: KubeObject | undefined,
    configuration: JsonObject,
    write: FieldWrite & { readonly force: boolean },
  ): KubeObject
  /** Called after admission: a write that only changes the time of a managedFields entry changes nothing. */
  dropTimeOnlyChanges(object: KubeObject, live: KubeObject): KubeObject
}
