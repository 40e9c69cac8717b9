// SPDX-License-Identifier: Apache-2.0

import type { KubeObject, ObjectOf, WithMetadata } from '../object.ts'

declare const objectType: unique symbol

/** The name of a storage whose objects have a known type. Reads from it return that type. */
export type StorageOf<T> = string & { readonly [objectType]: T }

/** The caller states the type. The codec of the kind guarantees it: every stored object went through it. */
export function storageOf<T>(name: string): StorageOf<T> {
  return name as StorageOf<T>
}

/** Returns the object with the type of its storage, or undefined if the object belongs to another storage. */
export function objectIn<T>(
  storage: StorageOf<T>,
  object: KubeObject | undefined,
  storedIn: string,
): ObjectOf<T> | undefined {
  return object && storedIn === storage ? (object as WithMetadata as ObjectOf<T>) : undefined
}
