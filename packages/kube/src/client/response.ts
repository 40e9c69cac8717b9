// SPDX-License-Identifier: Apache-2.0

import type { Deletion } from './client.ts'
import { CredentialsError } from './credentials.ts'
import { codeOf, KubeError, type RequestDescription, type Status } from './error.ts'
import { parseWithoutManagedFields, type ResponseShape } from './managed-fields.ts'
import type { KubeObject, ObjectMeta, ObjectPage, Stored } from './object.ts'
import { apiVersionOf, type Resource } from './resource.ts'
import {
  type ResponseBody,
  TransportError,
  type TransportFailure,
  type TransportHeaders,
} from './transport.ts'

/** Maximum quote of a response that is not a Status; enough to recognize a proxy's error page. */
const quotedCharacters = 300

const codeOfFailure = {
  network: 'Network',
  timeout: 'Timeout',
  aborted: 'Aborted',
} as const satisfies Record<TransportFailure, string>

/** Turns a failed response into an error, from the server's Status or from the page of a proxy. */
export function responseError(
  request: RequestDescription,
  httpStatus: number,
  headers: TransportHeaders,
  body: string,
): KubeError {
  const status = parseStatus(body)
  return new KubeError({
    code: codeOf(httpStatus, status?.reason),
    message: status?.message || body.slice(0, quotedCharacters).trim() || `HTTP ${httpStatus}`,
    request: describe(request),
    status: httpStatus,
    reason: status?.reason,
    details: status?.details,
    retryAfterSeconds: retryAfter(headers) ?? status?.details?.retryAfterSeconds,
  })
}

/** Turns an exception of the transport into an API error. Rethrows programming errors unchanged. */
export function transportError(request: RequestDescription, cause: unknown): KubeError {
  if (cause instanceof KubeError) return cause
  if (cause instanceof CredentialsError)
    return new KubeError({
      code: 'Credentials',
      message: cause.message,
      request: describe(request),
      sent: false,
      cause,
    })
  if (!(cause instanceof TransportError)) throw cause
  return new KubeError({
    code: codeOfFailure[cause.kind],
    message: `${request.verb} ${request.path}: ${cause.message}`,
    request: describe(request),
    sent: cause.sent,
    cause: cause.cause ?? cause,
  })
}

/** Parses the JSON of a response. With a shape, drops the managedFields of its objects. */
export function parseResponse<T>(request: RequestDescription, body: ResponseBody, shape?: ResponseShape): T {
  try {
    return (shape ? parseWithoutManagedFields(body, shape) : JSON.parse(body.toString())) as T
  } catch (cause) {
    throw new KubeError({
      code: 'Malformed',
      message: `${request.verb} ${request.path}: the response is not JSON: ${body.toString().slice(0, quotedCharacters)}`,
      request: describe(request),
      cause,
    })
  }
}

/** A list as the API sends it. */
export interface ListResponse<T extends KubeObject> {
  readonly metadata?: { readonly resourceVersion?: string; readonly continue?: string }
  readonly items?: readonly Stored<T>[] | null
}

/** Adds apiVersion and kind to the items of a page, because the server leaves them out of most lists. */
export function toPage<T extends KubeObject>(
  resource: Resource<T>,
  response: ListResponse<T>,
): ObjectPage<T> {
  const apiVersion = apiVersionOf(resource)
  const { kind } = resource
  return {
    items: (response.items ?? []).map(item => (item.kind ? item : { apiVersion, kind, ...item })),
    resourceVersion: response.metadata?.resourceVersion ?? '',
    continue: response.metadata?.continue || undefined,
  }
}

/**
 * Returns the response to a list request. Throws for anything else: a proxy may respond with status 200 and JSON of its own, and
 * a cache would take that for a cluster without objects.
 */
export function checkedList<T extends KubeObject>(
  request: RequestDescription,
  response: ListResponse<T> | null,
): ListResponse<T> {
  const isList = typeof response === 'object' && response !== null && 'items' in response
  const items = isList ? (response.items ?? []) : undefined
  if (isList && Array.isArray(items) && items.every(isNamed)) return response
  throw new KubeError({
    code: 'Malformed',
    message: `${request.verb} ${request.path}: the response is not a list of objects`,
    request: describe(request),
  })
}

export function hasVersion({ metadata }: { readonly metadata?: ObjectMeta | null }): boolean {
  return typeof metadata?.resourceVersion === 'string'
}

export function isNamed(object: { readonly metadata?: ObjectMeta | null } | null): boolean {
  return typeof object?.metadata?.name === 'string'
}

/** The server returns a Status if the object is deleted, or the object: still existing, or its last state. */
export function toDeletion<T extends KubeObject>(response: Stored<T> | Status): Deletion<T> {
  if (response.kind === 'Status' && !('metadata' in response && response.metadata?.uid))
    return { uid: (response as Status).details?.uid, gone: true }
  const object = response as Stored<T>
  return { object, uid: object.metadata.uid, gone: isLastState(object) }
}

/**
 * Reports whether a response shows an object that no longer exists: it has a deletionTimestamp and nothing holds it
 * any more. A delete without grace period returns that, and so does the patch that removes the last finalizer.
 */
export function isLastState(object: Stored): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds, finalizers } = object.metadata
  if (deletionTimestamp === undefined || finalizers?.length || deletionGracePeriodSeconds) return false
  return object.kind !== 'Namespace' || !(object as NamespaceObject).spec?.finalizers?.length
}

/** A namespace has a second list of finalizers, which hold it until its content is deleted. */
interface NamespaceObject extends Stored {
  readonly spec?: { readonly finalizers?: readonly string[] }
}

/** Leaves out the body, which may contain secrets. */
export function describe({ verb, path }: RequestDescription): RequestDescription {
  return { verb, path }
}

function parseStatus(body: string): Status | undefined {
  try {
    const status = JSON.parse(body) as Status | null
    return status && isStatus(status) ? status : undefined
  } catch {
    return undefined
  }
}

/** After a request timeout the API server sends a Status without kind. */
function isStatus({ kind, status, code }: Status): boolean {
  return kind === 'Status' || (!kind && status === 'Failure' && typeof code === 'number')
}

function retryAfter(headers: TransportHeaders): number | undefined {
  const value = headers['retry-after']
  const seconds = Number(typeof value === 'string' ? value : value?.[0])
  return value !== undefined && Number.isFinite(seconds) && seconds >= 0 ? seconds : undefined
}
