// SPDX-License-Identifier: Apache-2.0

import type { KubeObject } from '../object.ts'
import type { Resource } from '../registry/resource.ts'

const converted = new WeakMap<Resource, WeakMap<KubeObject, KubeObject>>()
const encoded = new WeakMap<KubeObject, string>()

/** A stored object in the version of the resource. Stored objects never change, so each is converted once. */
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

/** The JSON of a frozen object, made once and shared by answers, lists and all watches. */
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
