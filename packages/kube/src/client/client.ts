// SPDX-License-Identifier: Apache-2.0

import type { KubeObject, ObjectList, ObjectPage, ObjectRef, Stored } from './object.ts'
import type {
  ApplyOptions,
  DeleteCollectionOptions,
  DeleteOptions,
  GetOptions,
  ListOptions,
  PageOptions,
  Patch,
  PatchOptions,
  RequestOptions,
  UpdateOptions,
  WatchOptions,
  WriteOptions,
} from './options.ts'
import type { Resource } from './resource.ts'
import type { WatchEvent } from './watch.ts'

/**
 * A client of one Kubernetes API.
 *
 * Promised: every method rejects only with a KubeError, whose `code` classifies the failure and whose message is the
 * server's. (A caller that misuses a method gets a TypeError.) `outcome(…)` turns a rejection into a value, for
 * failures that are expected. The client repeats a request that the server asked to repeat later (429, Retry-After)
 * or that was certainly not carried out. It repeats one that may have been carried out only if doing it twice equals
 * doing it once. At most `maxInFlight` requests run at a time, fewer while the server throttles. Every method ends at
 * once when its signal is aborted.
 *
 * Not promised: that an aborted, timed-out or cut write was not carried out; that a read sees another client's last
 * write (reads without a resourceVersion are consistent); that objects match their TypeScript type beyond the
 * server's validation.
 */
export interface Client {
  get<T extends KubeObject>(resource: Resource<T>, ref: ObjectRef, options?: GetOptions): Promise<Stored<T>>
  /** Like `get`, but returns undefined if the object does not exist. */
  find<T extends KubeObject>(
    resource: Resource<T>,
    ref: ObjectRef,
    options?: GetOptions,
  ): Promise<Stored<T> | undefined>
  /** Lists all matching objects, page by page, from one consistent snapshot. */
  list<T extends KubeObject>(resource: Resource<T>, options?: ListOptions): Promise<ObjectList<T>>
  /** One page. Rejects with `Gone` if the continue token has expired. */
  page<T extends KubeObject>(resource: Resource<T>, options?: PageOptions): Promise<ObjectPage<T>>
  /**
   * Returns the pages of one consistent snapshot. Rejects with `Gone` if reading takes longer than the server keeps
   * it.
   */
  pages<T extends KubeObject>(resource: Resource<T>, options?: ListOptions): AsyncIterable<ObjectPage<T>>
  /**
   * Calls back for each event until the server ends the watch (resolves) or it fails (rejects; `Gone` means: list
   * again). Does not resume: WatchCache does. An exception of the callback ends the watch and is rethrown.
   */
  watch<T extends KubeObject>(
    resource: Resource<T>,
    options: WatchOptions,
    onEvent: (event: WatchEvent<T>) => void,
  ): Promise<void>

  /**
   * The namespace is the object's own. With `generateName` the client chooses the name. If the response is lost, it
   * repeats the create under that name until the outcome is known or the signal is aborted: it never creates two
   * objects.
   */
  create<T extends KubeObject>(resource: Resource<T>, object: T, options?: WriteOptions): Promise<Stored<T>>
  /** Replaces the object. With a resourceVersion, fails with `Conflict` if the object has changed. */
  update<T extends KubeObject>(resource: Resource<T>, object: T, options?: UpdateOptions): Promise<Stored<T>>
  patch<T extends KubeObject>(
    resource: Resource<T>,
    ref: ObjectRef,
    patch: Patch,
    options?: PatchOptions,
  ): Promise<Stored<T>>
  /** Server-side apply: creates or updates, and owns exactly the given fields. */
  apply<T extends KubeObject>(resource: Resource<T>, object: T, options: ApplyOptions): Promise<Stored<T>>
  delete<T extends KubeObject>(
    resource: Resource<T>,
    ref: ObjectRef,
    options?: DeleteOptions,
  ): Promise<Deletion<T>>
  /**
   * Deletes all matching objects in one request and returns them as they were found. Never repeated: by then the
   * selector may match new objects.
   */
  deleteCollection<T extends KubeObject>(
    resource: Resource<T>,
    options?: DeleteCollectionOptions,
  ): Promise<ObjectList<T>>

  /**
   * Sends API requests that have no method here: subresources, discovery, `/readyz`. Parses a JSON response and returns
   * others as text.
   */
  raw(request: RawRequest, options?: RequestOptions): Promise<unknown>

  /** Waits for running requests; rejects new ones. */
  close(): Promise<void>
}

/** The server's response to a delete. */
export interface Deletion<T extends KubeObject> {
  /** The object, if the server sent it: its current state if it still exists, its last state if not. */
  readonly object?: Stored<T>
  readonly uid?: string
  /** True if the object no longer exists; false while its grace period or its finalizers hold it. */
  readonly gone: boolean
}

export interface RawRequest {
  readonly verb: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Path with query. */
  readonly path: string
  readonly body?: unknown
  readonly contentType?: string
  /** Accepted media types. Default: JSON. */
  readonly accept?: string
  /** The resource name for metrics; `pods/binding`. */
  readonly resource?: string
  /** Doing it twice equals doing it once, so it may be repeated after a lost response. */
  readonly idempotent?: boolean
}
