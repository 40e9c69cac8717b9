// SPDX-License-Identifier: Apache-2.0

import type { KubeObject } from '@grove/kube'

/** A child by its name. It is built only when it is created or compared, because an owner may want many thousands. */
export interface WantedChild<T extends KubeObject> {
  readonly name: string
  build(): T
  /** True if a missing child is not created yet, because it belongs to a replica that is created later. */
  readonly isLater?: boolean
}

/** Builds all children at once. Only for kinds with few of them. */
export function buildAll<T extends KubeObject>(wanted: Iterable<WantedChild<T>>): T[] {
  return Array.from(wanted, child => child.build())
}

/** Wraps children that are already built. Only for kinds with few of them. */
export function wantedObject<T extends KubeObject>(object: T): WantedChild<T> {
  return { name: object.metadata?.name ?? '', build: () => object }
}
