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
 * Talks to one Kubernetes API.
 *
 * Promised: every method rejects with a KubeError and nothing else, whose `code` says what happened and whose message
 * is the server's (a caller that misuses a method gets a TypeError). `outcome(…)` turns a rejection into a value where
 * failure is an ordinary answer. A request that the server asked to repeat later (429, Retry-After) or that surely was
 * not carried out is repeated; one that may have been carried out is repeated only when doing it twice is the same as
 * doing it once. At most `maxInFlight` requests are under way, fewer while the server throttles. Every method ends at
 * once when its signal is aborted.
 *
 * Not promised: that an aborted, timed-out or cut write was not carried out; that a read sees another client's last
 * write (use no resourceVersion for that: such reads are consistent); that objects match their TypeScript type beyond
 * what the server validated.
 */
export interface Client {
  get<T extends KubeObject>(resource: Resource<T>, ref: ObjectRef, options?: GetOptions): Promise<Stored<T>>
  /** Like `get`, but undefined when there is no such object. */
  find<T extends KubeObject>(
    resource: Resource<T>,
    ref: ObjectRef,
    options?: GetOptions,
  ): Promise<Stored<T> | undefined>
  /** Everything that matches, read page by page; one consistent moment of the cluster. */
  list<T extends KubeObject>(resource: Resource<T>, options?: ListOptions): Promise<ObjectList<T>>
  /** One page. Rejects with `Gone` when the continue token has expired. */
  page<T extends KubeObject>(resource: Resource<T>, options?: PageOptions): Promise<ObjectPage<T>>
  /** Page after page of one consistent moment. Rejects with `Gone` when reading takes longer than the server keeps it. */
  pages<T extends KubeObject>(resource: Resource<T>, options?: ListOptions): AsyncIterable<ObjectPage<T>>
  /** Calls back for each event until the server ends the watch (resolves) or it fails (rejects; `Gone` means list
   * again). Never resumes by itself: see WatchCache. An exception of the callback ends the watch and is thrown on. */
  watch<T extends KubeObject>(
    resource: Resource<T>,
    options: WatchOptions,
    onEvent: (event: WatchEvent<T>) => void,
  ): Promise<void>

  /** The namespace is the object's own. With `generateName` the name is chosen here, and a create whose answer
   * was lost is repeated under that name until its outcome is known or its signal is aborted: it never makes two
   * objects. */
  create<T extends KubeObject>(resource: Resource<T>, object: T, options?: WriteOptions): Promise<Stored<T>>
  /** Replaces the object; with a resourceVersion only if it is unchanged, else `Conflict`. */
  update<T extends KubeObject>(resource: Resource<T>, object: T, options?: UpdateOptions): Promise<Stored<T>>
  patch<T extends KubeObject>(
    resource: Resource<T>,
    ref: ObjectRef,
    patch: Patch,
    options?: PatchOptions,
  ): Promise<Stored<T>>
  /** Server-side apply: creates or updates, and owns exactly the fields given. */
  apply<T extends KubeObject>(resource: Resource<T>, object: T, options: ApplyOptions): Promise<Stored<T>>
  delete<T extends KubeObject>(
    resource: Resource<T>,
    ref: ObjectRef,
    options?: DeleteOptions,
  ): Promise<Deletion<T>>
  /** Deletes everything that matches in one request. Returns the objects as they were found. Never repeated: what
   * matches by then may be what has come in place of what was meant. */
  deleteCollection<T extends KubeObject>(
    resource: Resource<T>,
    options?: DeleteCollectionOptions,
  ): Promise<ObjectList<T>>

  /** Any request of the API, for what has no method: subresources, discovery, `/readyz`. The answer is parsed when it
   * is JSON and is the text otherwise. */
  raw(request: RawRequest, options?: RequestOptions): Promise<unknown>

  /** Lets requests in flight finish; new ones are refused. */
  close(): Promise<void>
}

/** What the server answered to a delete. */
export interface Deletion<T extends KubeObject> {
  /** The object, when the server sent it: as it now is if it still exists, as it last was if it is gone. */
  readonly object?: Stored<T>
  readonly uid?: string
  /** True when the object no longer exists; false when it waits for its grace period or its finalizers. */
  readonly gone: boolean
}

export interface RawRequest {
  readonly verb: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Path with query. */
  readonly path: string
  readonly body?: unknown
  readonly contentType?: string
  /** The formats wanted; JSON unless told. */
  readonly accept?: string
  /** The name of the resource for metrics; `pods/binding`. */
  readonly resource?: string
  /** Whether doing it twice is the same as doing it once, so that it may be repeated after a lost answer. */
  readonly idempotent?: boolean
}
