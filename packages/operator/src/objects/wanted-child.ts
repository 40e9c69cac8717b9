// SPDX-License-Identifier: Apache-2.0

import type { KubeObject } from '@grove/kube'

/** A child by its name. It is built only when it is created or compared: an owner may want many thousands. */
export interface WantedChild<T extends KubeObject> {
  readonly name: string
  build(): T
  /** True if a missing child is not created yet, because it belongs to a replica that is created later. */
  readonly isLater?: boolean
}

/** Builds all of them at once, where they are known to be few. */
export function buildAll<T extends KubeObject>(wanted: Iterable<WantedChild<T>>): T[] {
  return Array.from(wanted, child => child.build())
}

/** For children of which there are few. */
export function wantedObject<T extends KubeObject>(object: T): WantedChild<T> {
  return { name: object.metadata?.name ?? '', build: () => object }
}
