// SPDX-License-Identifier: Apache-2.0

// What every Kubernetes object has. All of it is read-only here so that any generated type fits, mutable or not.

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

/** What the server fills in for every object it stores. */
export interface StoredMeta extends ObjectMeta {
  readonly name: string
  readonly uid: string
  readonly resourceVersion: string
}

/** An object as the server returned it: named, with a UID and a resourceVersion. */
export type Stored<T extends KubeObject = KubeObject> = T & { readonly metadata: StoredMeta }

/** Names one object; the metadata of any stored object is one. */
export interface ObjectRef {
  readonly name: string
  /** Left out for cluster-scoped objects. */
  readonly namespace?: string
}

export interface ObjectList<T extends KubeObject> {
  readonly items: Stored<T>[]
  /** The moment of the cluster's history that the list shows. */
  readonly resourceVersion: string
}

export interface ObjectPage<T extends KubeObject> extends ObjectList<T> {
  /** Where the next page starts; undefined on the last one. */
  readonly continue?: string
}
