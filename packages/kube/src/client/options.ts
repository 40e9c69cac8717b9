// SPDX-License-Identifier: Apache-2.0

// What can be asked of each request, beside the object itself.
import type { Priority } from '../queue/fair-order.ts'

export interface AnswerOptions {
  /** False leaves metadata.managedFields out of the objects that are returned, which are then parsed in half the time;
   * as the client's `managedFields` says unless told. */
  readonly managedFields?: boolean
}

export interface RequestOptions extends AnswerOptions {
  /** Ends the request, its retries and its waiting for a turn; the promise rejects with code `Aborted`. */
  readonly signal?: AbortSignal
  /** Longest silence of the server for one attempt; the client's `timeoutMs` unless told. */
  readonly timeoutMs?: number
  /** At most this many attempts, the first included; 1 never repeats. As the client's retry policy says unless told. */
  readonly attempts?: number
  /** Neither waits for the in-flight limit nor for the rate limit nor for a server that asked to slow down. For the
   * few requests on which safety depends, such as renewing a lease. */
  readonly urgent?: boolean
  /** How many turns it gets while more requests wait than may be in flight; `normal` unless told. Namespaces take turns
   * within a priority. */
  readonly priority?: Priority
}

export interface GetOptions extends RequestOptions {
  readonly resourceVersion?: string
}

export interface SelectOptions {
  /** All namespaces unless told. */
  readonly namespace?: string
  /** `app=web,tier in (a, b),!old`. */
  readonly labelSelector?: string
  /** `spec.nodeName=n1`. */
  readonly fieldSelector?: string
}

export interface ListOptions extends RequestOptions, SelectOptions {
  /** Objects per page; 0 asks for everything in one answer. */
  readonly limit?: number
  readonly resourceVersion?: string
  readonly resourceVersionMatch?: 'Exact' | 'NotOlderThan'
}

export interface PageOptions extends ListOptions {
  /** Where the previous page ended. */
  readonly continue?: string
}

export interface WatchOptions extends SelectOptions, AnswerOptions {
  readonly signal?: AbortSignal
  /** Events after this moment; without it the server starts with what exists. */
  readonly resourceVersion?: string
  readonly resourceVersionMatch?: 'NotOlderThan'
  /** First every existing object as ADDED, then a bookmark that says so (streaming list). */
  readonly sendInitialEvents?: boolean
  /** How long the server is asked to keep the watch open. */
  readonly timeoutSeconds?: number
  /** Longest silence before the connection counts as dead. Bookmarks come every minute. */
  readonly idleTimeoutMs?: number
  /** The resourceVersions of states that the caller has: their events are told as bookmarks and need not be parsed. */
  readonly known?: ReadonlySet<string>
  /** The form of the objects; JSON unless told. Events then carry whatever the server sends in that form: tables. */
  readonly accept?: string
}

export interface WriteOptions extends RequestOptions {
  /** The server checks and answers, but stores nothing. */
  readonly dryRun?: boolean
  /** Whose fields these are in managedFields; the client's own name unless told. */
  readonly fieldManager?: string
  /** What the server does with unknown and duplicate fields; its default is to warn. */
  readonly fieldValidation?: 'Ignore' | 'Warn' | 'Strict'
}

export interface UpdateOptions extends WriteOptions {
  /** `status`; see subresources.ts for those whose objects are of another type. */
  readonly subresource?: string
}

export interface PatchOptions extends WriteOptions {
  readonly subresource?: string
}

export interface ApplyOptions extends WriteOptions {
  readonly subresource?: string
  /** Required by the server: who owns the applied fields. */
  readonly fieldManager: string
  /** Takes fields over from other managers instead of failing with `Conflict`. */
  readonly force?: boolean
}

export interface DeleteOptions extends RequestOptions {
  /** Deletes only this very object, or fails with `Conflict`. */
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string }
  readonly propagationPolicy?: 'Orphan' | 'Background' | 'Foreground'
  readonly gracePeriodSeconds?: number
  readonly dryRun?: boolean
}

export interface DeleteCollectionOptions extends SelectOptions, Omit<DeleteOptions, 'preconditions'> {}

export interface JsonPatchOperation {
  readonly op: 'add' | 'remove' | 'replace' | 'move' | 'copy' | 'test'
  readonly path: string
  readonly from?: string
  readonly value?: unknown
}

/** Exactly one of the three patch languages of the API; server-side apply is `client.apply`. */
export type Patch =
  | { readonly merge: object }
  | { readonly json: readonly JsonPatchOperation[] }
  | { readonly strategic: object }
