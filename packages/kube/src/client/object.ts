// SPDX-License-Identifier: Apache-2.0

// The common part of all Kubernetes objects. All fields are read-only, so that any generated type fits, mutable or
// not.

export interface OwnerReference {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly uid: string
  readonly controller?: boolean
  readonly blockOwnerDeletion?: boolean
}

export interface ObjectMeta {
  readonly name?: string
  readonly generateName?: string
  readonly namespace?: string
  readonly uid?: string
  readonly resourceVersion?: string
  readonly generation?: number
  readonly creationTimestamp?: string
  readonly deletionTimestamp?: string
  readonly deletionGracePeriodSeconds?: number
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly ownerReferences?: readonly OwnerReference[]
  readonly finalizers?: readonly string[]
  readonly managedFields?: readonly unknown[]
}

export interface KubeObject {
  readonly apiVersion?: string
  readonly kind?: string
  readonly metadata?: ObjectMeta
}

/** Fields that the server sets on every stored object. */
export interface StoredMeta extends ObjectMeta {
  readonly name: string
  readonly uid: string
  readonly resourceVersion: string
}

/** An object from the server: it has a name, a UID and a resourceVersion. */
export type Stored<T extends KubeObject = KubeObject> = T & { readonly metadata: StoredMeta }

/** Identifies one object; the metadata of any stored object fits. */
export interface ObjectRef {
  readonly name: string
  /** Undefined for cluster-scoped objects. */
  readonly namespace?: string
}

export interface ObjectList<T extends KubeObject> {
  readonly items: Stored<T>[]
  /** The resourceVersion of the list. */
  readonly resourceVersion: string
}

export interface ObjectPage<T extends KubeObject> extends ObjectList<T> {
  /** The token of the next page; undefined on the last one. */
  readonly continue?: string
}
