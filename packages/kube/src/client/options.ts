// SPDX-License-Identifier: Apache-2.0

// Options of each request.
import type { Priority } from '../queue/fair-order.ts'

export interface ResponseOptions {
  /**
   * False leaves metadata.managedFields out of returned objects, which halves the parsing time. Default: the client's
   * `managedFields`.
   */
  readonly managedFields?: boolean
}

export interface RequestOptions extends ResponseOptions {
  /** Ends the request, its retries and its wait for a slot. The promise rejects with code `Aborted`. */
  readonly signal?: AbortSignal
  /** Longest silence of the server for one attempt. Default: the client's `timeoutMs`. */
  readonly timeoutMs?: number
  /** Maximum number of attempts, including the first; 1 disables retries. Default: the client's retry policy. */
  readonly attempts?: number
  /**
   * Bypasses the in-flight limit, the rate limit and the pause of a throttling server. Only for requests on which
   * safety depends, such as the renewal of a lease.
   */
  readonly urgent?: boolean
  /** The share of slots while requests wait. Default: `normal`. Namespaces take turns within a priority. */
  readonly priority?: Priority
}

export interface GetOptions extends RequestOptions {
  readonly resourceVersion?: string
}

export interface SelectOptions {
  /** Default: all namespaces. */
  readonly namespace?: string
  /** `app=web,tier in (a, b),!old`. */
  readonly labelSelector?: string
  /** `spec.nodeName=n1`. */
  readonly fieldSelector?: string
}

export interface ListOptions extends RequestOptions, SelectOptions {
  /** Objects per page; 0 requests everything in one response. */
  readonly limit?: number
  readonly resourceVersion?: string
  readonly resourceVersionMatch?: 'Exact' | 'NotOlderThan'
}

export interface PageOptions extends ListOptions {
  /** The token of the previous page. */
  readonly continue?: string
}

export interface WatchOptions extends SelectOptions, ResponseOptions {
  readonly signal?: AbortSignal
  /** Watches from this resourceVersion. Without it, the server starts with the existing objects. */
  readonly resourceVersion?: string
  readonly resourceVersionMatch?: 'NotOlderThan'
  /** Sends every existing object as ADDED first, then a bookmark (streaming list). */
  readonly sendInitialEvents?: boolean
  /** Requested duration of the watch. */
  readonly timeoutSeconds?: number
  /** Longest silence before the connection counts as dead. The server sends a bookmark every minute. */
  readonly idleTimeoutMs?: number
  /** resourceVersions that the caller already has. Their events arrive as bookmarks, without parsing. */
  readonly known?: ReadonlySet<string>
  /** Media type of the objects. Default: JSON. Events then carry the server's representation, such as tables. */
  readonly accept?: string
}

export interface WriteOptions extends RequestOptions {
  /** The server validates and responds, but stores nothing. */
  readonly dryRun?: boolean
  /** The owner of the fields in managedFields. Default: the client's `fieldManager`. */
  readonly fieldManager?: string
  /** Treatment of unknown and duplicate fields; the server's default is Warn. */
  readonly fieldValidation?: 'Ignore' | 'Warn' | 'Strict'
}

export interface UpdateOptions extends WriteOptions {
  /** `status`; see subresources.ts for those whose objects have another type. */
  readonly subresource?: string
}

export interface PatchOptions extends WriteOptions {
  readonly subresource?: string
}

export interface ApplyOptions extends WriteOptions {
  readonly subresource?: string
  /** The owner of the applied fields; the server requires it. */
  readonly fieldManager: string
  /** Takes fields over from other managers instead of failing with `Conflict`. */
  readonly force?: boolean
}

export interface DeleteOptions extends RequestOptions {
  /** Deletes only this object, or fails with `Conflict`. */
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

/** Exactly one of the three patch types of the API. Server-side apply is `client.apply`. */
export type Patch =
  | { readonly merge: object }
  | { readonly json: readonly JsonPatchOperation[] }
  | { readonly strategic: object }
