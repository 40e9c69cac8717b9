// SPDX-License-Identifier: Apache-2.0

import type { Deletion } from './client.ts'
import { CredentialsError } from './credentials.ts'
import { codeOf, KubeError, type RequestDescription, type Status } from './error.ts'
import { type AnswerShape, parseWithoutManagedFields } from './managed-fields.ts'
import type { KubeObject, ObjectPage, Stored } from './object.ts'
import { apiVersionOf, type Resource } from './resource.ts'
import { type AnswerBody, TransportError, type TransportHeaders } from './transport.ts'

/** Text of an answer that is no Status, for the message of an error: enough to recognise a proxy's error page. */
const quotedCharacters = 300

/** A failed answer as an error, whether the server sent a Status or a proxy on the way sent a page. */
export function answerError(
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

/** What was thrown on the way as an error of the API. A defect of ours is thrown on as it is. */
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
    code: cause.kind === 'network' ? 'Network' : cause.kind === 'timeout' ? 'Timeout' : 'Aborted',
    message: `${request.verb} ${request.path}: ${cause.message}`,
    request: describe(request),
    sent: cause.sent,
    cause: cause.cause ?? cause,
  })
}

/** The JSON of an answer of the API. With a shape, without the managedFields of the objects that it says there are. */
export function parseAnswer<T>(request: RequestDescription, body: AnswerBody, shape?: AnswerShape): T {
  try {
    return (shape ? parseWithoutManagedFields(body, shape) : JSON.parse(body.toString())) as T
  } catch (cause) {
    throw new KubeError({
      code: 'Malformed',
      message: `${request.verb} ${request.path}: the answer is not JSON: ${body.toString().slice(0, quotedCharacters)}`,
      request: describe(request),
      cause,
    })
  }
}

/** What the API sends for a list. */
export interface ListAnswer<T extends KubeObject> {
  readonly metadata?: { readonly resourceVersion?: string; readonly continue?: string }
  readonly items?: readonly Stored<T>[] | null
}

/** A page whose objects say what they are: the server leaves apiVersion and kind out of the items of most lists. */
export function toPage<T extends KubeObject>(resource: Resource<T>, answer: ListAnswer<T>): ObjectPage<T> {
  const apiVersion = apiVersionOf(resource)
  const { kind } = resource
  return {
    items: (answer.items ?? []).map(item => (item.kind ? item : { apiVersion, kind, ...item })),
    resourceVersion: answer.metadata?.resourceVersion ?? '',
    continue: answer.metadata?.continue || undefined,
  }
}

/** The server sends a Status when the object is gone, or the object: still there, or as it last was. */
export function toDeletion<T extends KubeObject>(answer: Stored<T> | Status): Deletion<T> {
  if (answer.kind === 'Status' && !('metadata' in answer && answer.metadata?.uid))
    return { uid: (answer as Status).details?.uid, gone: true }
  const object = answer as Stored<T>
  return { object, uid: object.metadata.uid, gone: isLastState(object) }
}

/** Whether an answer shows an object that no longer exists: it was to be deleted and nothing held it any more. That is
 * what a delete without grace answers, and the patch that takes the last finalizer away. */
export function isLastState(object: Stored): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds, finalizers } = object.metadata
  if (deletionTimestamp === undefined || finalizers?.length || deletionGracePeriodSeconds) return false
  return object.kind !== 'Namespace' || !(object as NamespaceObject).spec?.finalizers?.length
}

/** A namespace is held by a second list as well, until what is in it is gone. */
interface NamespaceObject extends Stored {
  readonly spec?: { readonly finalizers?: readonly string[] }
}

/** Without the body, which may hold secrets. */
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

/** An API server whose time for a request is over says so in a Status without its kind. */
function isStatus({ kind, status, code }: Status): boolean {
  return kind === 'Status' || (!kind && status === 'Failure' && typeof code === 'number')
}

function retryAfter(headers: TransportHeaders): number | undefined {
  const value = headers['retry-after']
  const seconds = Number(typeof value === 'string' ? value : value?.[0])
  return value !== undefined && Number.isFinite(seconds) && seconds >= 0 ? seconds : undefined
}
