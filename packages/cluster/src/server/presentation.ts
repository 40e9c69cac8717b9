// SPDX-License-Identifier: Apache-2.0

import type { KubeObject } from '../object.ts'
import type { Resource } from '../registry/resource.ts'

const converted = new WeakMap<Resource, WeakMap<KubeObject, KubeObject>>()
const encoded = new WeakMap<KubeObject, string>()

/**
 * Converts a stored object to the version of the resource. Stored objects are immutable, so each is converted
 * once.
 */
export function present(resource: Resource, stored: KubeObject): KubeObject {
  if (!resource.conversion) return stored
  let known = converted.get(resource)
  if (!known) {
    known = new WeakMap()
    converted.set(resource, known)
  }
  let object = known.get(stored)
  if (!object) {
    object = resource.conversion.fromStorage(stored)
    known.set(stored, object)
  }
  return object
}

/** Returns the JSON of a frozen object. Computed once and shared by responses, lists and watches. */
export function encode(object: KubeObject): string {
  let text = encoded.get(object)
  if (text === undefined) {
    text = JSON.stringify(object)
    encoded.set(object, text)
  }
  return text
}

export function apiVersionOf(resource: { readonly group: string; readonly version: string }): string {
  return resource.group ? `${resource.group}/${resource.version}` : resource.version
}
