// SPDX-License-Identifier: Apache-2.0

// The writes that a plan requests from the executor. An intent names one object or one collection, the error that a
// failure becomes in `status.lastErrors`, and the events that report its outcome. Intents hold no client and send
// nothing: see execute.ts.
import type { EventValue, Pod } from '@grove/api'
import type { KubeObject, Resource, Stored } from '@grove/kube'
import type { StoredSet } from '../layout/stored.ts'
import type { KnownObjects } from './planned-removal.ts'

export type MergePatch = Readonly<Record<string, unknown>>

/** Receives events. Never blocks and never fails, because no reconcile depends on an event. */
export interface EventSink {
  emit(about: KubeObject, source: string, event: EventValue): void
}

/** The events that report the outcome of an intent. */
export interface Report<T extends KubeObject = KubeObject> {
  readonly about: KubeObject
  readonly source: string
  /** Emitted only if the request changed something. */
  done?(written: Stored<T>): EventValue | readonly EventValue[]
  failed?(error: string): EventValue | readonly EventValue[]
}

interface Outcomes<T extends KubeObject> {
  /** The error that the reconcile reports. If absent, it reports the error of the request. */
  error?(cause: unknown): Error
  readonly report?: Report<T>
}

export interface Create<T extends KubeObject = KubeObject> extends Outcomes<T> {
  readonly kind: 'create'
  readonly resource: Resource<T>
  readonly object: T
  /** The object of this name, as the cache has it. If set, nothing is created, and `existing` decides what it needs. */
  readonly known?: Stored<T>
  /** `user`: sent before requests that only follow from this one. */
  readonly priority?: 'user'
  /** The policy for an existing object of this name. Pods have generated names and need none. */
  readonly existing?: ExistingObject<T>
}

/** The policy for objects that exist although the cache does not contain them. */
export interface ExistingObject<T extends KubeObject = KubeObject> {
  /** An object that this owner controls is its own: the watch has not delivered it yet, or it lost its labels. */
  readonly ownerUid: string
  /**
   * Reports whether the deletion of this terminating object enqueues the owner. If not, the reconcile fails and is retried
   * until the name is free.
   */
  awaitsDeletion?(existing: Stored<T>): boolean
  /** The patch that an owned object needs; undefined if it needs none. */
  repair?(existing: Stored<T>): MergePatch | undefined
  /** The patch that makes the owner the controller of an orphan; undefined if another owner controls the object. */
  adopt?(existing: Stored<T>): MergePatch | undefined
  /** The error for an object of another owner. The executor never writes to it. */
  conflict(existing: Stored<T>): Error
}

export interface Patch<T extends KubeObject = KubeObject> extends Outcomes<T> {
  readonly kind: 'patch'
  readonly resource: Resource<T>
  readonly object: Stored<T>
  readonly merge: MergePatch
  readonly subresource?: 'status'
}

/** Deletes exactly this object, and never a successor with the same name. */
export interface Delete<T extends KubeObject = KubeObject> extends Outcomes<T> {
  readonly kind: 'delete'
  readonly resource: Resource<T>
  readonly object: Stored<T>
}

/** Deletes many objects of one owner: see planned-removal.ts. */
export interface DeleteCollection<T extends KubeObject = KubeObject> extends Outcomes<T> {
  readonly kind: 'deleteCollection'
  /** The cache that holds every object that the selector matches. */
  readonly known: KnownObjects<T>
  readonly namespace: string
  readonly labelSelector: string
  /** UIDs of the objects to delete, or of their controllers. */
  readonly planned: ReadonlySet<string>
  /** Given for pods of deleted cliques: the executor remembers the cliques until their pods are deleted. */
  readonly podsOf?: StoredSet
}

/** Removes the operator's scheduling gate from a pod. */
export interface RemoveGate extends Outcomes<Pod> {
  readonly kind: 'removeGate'
  readonly pod: Stored<Pod>
}

/**
 * Patches the fields of a status that differ. The resource version must be the one that the status was computed from.
 */
export interface WriteStatus<T extends KubeObject = KubeObject> extends Outcomes<T> {
  readonly kind: 'writeStatus'
  readonly resource: Resource<T>
  readonly object: Stored<T> & { readonly status?: unknown }
  readonly status: unknown
  /** `background`: sent after the requests that the availability of a set depends on. */
  readonly priority?: 'background'
}

export type Intent = Create | Patch | Delete | DeleteCollection | RemoveGate | WriteStatus
