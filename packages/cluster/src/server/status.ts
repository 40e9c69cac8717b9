// SPDX-License-Identifier: Apache-2.0

// All API errors, with the messages of the real API server. They are thrown as ApiError and encoded as a
// Status object. No other file of the server defines error messages for clients.
import {
  describeFieldError,
  type FieldError,
  fieldErrorReason,
  quote,
  renderFieldErrors,
} from '@grove/apimachinery'

export interface StatusDetails {
  name?: string
  group?: string
  kind?: string
  uid?: string
  causes?: { reason?: string; message?: string; field?: string }[]
  retryAfterSeconds?: number
}

export interface Status {
  kind: 'Status'
  apiVersion: 'v1'
  metadata: Record<string, unknown>
  status: 'Success' | 'Failure'
  message?: string
  reason?: string
  details?: StatusDetails
  code?: number
}

export class ApiError extends Error {
  readonly status: Status
  constructor(code: number, reason: string, message: string, details?: StatusDetails) {
    super(message)
    this.status = {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message,
      ...(reason && { reason }),
      ...(details && { details }),
      code,
    }
  }

  get code(): number {
    return this.status.code!
  }
}

/** The name of a resource in messages: `pods`, `deployments.apps`. */
export interface ResourceName {
  readonly group: string
  readonly plural: string
}

export interface KindName {
  readonly group: string
  readonly kind: string
}

function qualified(name: string, group: string): string {
  return group ? `${name}.${group}` : name
}

function resourceDetails(resource: ResourceName, name: string): StatusDetails {
  return { ...(name && { name }), ...(resource.group && { group: resource.group }), kind: resource.plural }
}

/** Reports duplicate causes once. */
function causesOf(errors: readonly FieldError[]): NonNullable<StatusDetails['causes']> {
  const causes = new Map<string, { reason: string; message: string; field: string }>()
  for (const error of errors) {
    const message = describeFieldError(error)
    causes.set(`${error.field} ${message}`, { reason: fieldErrorReason(error), message, field: error.field })
  }
  return [...causes.values()]
}

const watchTypes = ['application/json;stream=watch', 'application/vnd.kubernetes.protobuf;stream=watch']

export const apiError = {
  notFound: (resource: ResourceName, name: string) =>
    new ApiError(
      404,
      'NotFound',
      `${qualified(resource.plural, resource.group)} ${quote(name)} not found`,
      resourceDetails(resource, name),
    ),

  resourceNotFound: () =>
    new ApiError(404, 'NotFound', 'the server could not find the requested resource', {}),

  alreadyExists: (resource: ResourceName, name: string, beingDeleted = false) =>
    new ApiError(
      409,
      'AlreadyExists',
      `${beingDeleted ? 'object is being deleted: ' : ''}${qualified(resource.plural, resource.group)} ${quote(name)} already exists`,
      resourceDetails(resource, name),
    ),

  conflict: (resource: ResourceName, name: string, why: string) =>
    new ApiError(
      409,
      'Conflict',
      `Operation cannot be fulfilled on ${qualified(resource.plural, resource.group)} ${quote(name)}: ${why}`,
      resourceDetails(resource, name),
    ),

  modified: (resource: ResourceName, name: string) =>
    apiError.conflict(
      resource,
      name,
      'the object has been modified; please apply your changes to the latest version and try again',
    ),

  invalid: (kind: KindName, name: string, errors: readonly FieldError[]) =>
    new ApiError(
      422,
      'Invalid',
      `${qualified(kind.kind, kind.group)} ${quote(name)} is invalid: ${renderFieldErrors(errors)}`,
      {
        ...(name && { name }),
        ...(kind.group && { group: kind.group }),
        ...(kind.kind && { kind: kind.kind }),
        causes: causesOf(errors),
      },
    ),

  badRequest: (message: string) => new ApiError(400, 'BadRequest', message),

  /** The object could be decoded but is not valid. Also for a patch whose result is not an object. */
  unprocessable: (message: string, details?: StatusDetails) => new ApiError(422, 'Invalid', message, details),

  forbidden: (resource: ResourceName, name: string, why: string) =>
    new ApiError(
      403,
      'Forbidden',
      name
        ? `${qualified(resource.plural, resource.group)} ${quote(name)} is forbidden: ${why}`
        : `${qualified(resource.plural, resource.group)} is forbidden: ${why}`,
      resourceDetails(resource, name),
    ),

  unauthorized: () => new ApiError(401, 'Unauthorized', 'Unauthorized'),

  methodNotAllowed: () =>
    new ApiError(
      405,
      'MethodNotAllowed',
      'the server does not allow this method on the requested resource',
      {},
    ),

  unsupportedMediaType: (accepted: readonly string[]) =>
    new ApiError(
      415,
      'UnsupportedMediaType',
      `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`,
    ),

  notAcceptable: (accepted: readonly string[]) =>
    new ApiError(406, 'NotAcceptable', `only the following media types are accepted: ${accepted.join(', ')}`),

  /** None of the media types that the client accepts is served. */
  noRepresentation: (served: readonly string[]) =>
    new ApiError(
      406,
      'NotAcceptable',
      `406: Not Acceptable\n\nAvailable representations: ${[...served, ...watchTypes].join(', ')}`,
      {},
    ),

  /** The requested revision of a watch or page was compacted. */
  expired: (message: string) => new ApiError(410, 'Expired', message),

  tooLarge: (limit: number) =>
    new ApiError(413, 'RequestEntityTooLarge', `Request entity too large: limit is ${limit}`),

  futureRevision: (asked: number, current: number) =>
    new ApiError(504, 'Timeout', `Timeout: Too large resource version: ${asked}, current: ${current}`, {
      causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
      retryAfterSeconds: 1,
    }),

  tooManyRequests: (message: string, details?: StatusDetails) =>
    new ApiError(429, 'TooManyRequests', message, details),

  /** The real API server returns 500 for these errors of the client. */
  unexpected: (message: string) => new ApiError(500, '', message),

  internal: (message: string) =>
    new ApiError(500, 'InternalError', `Internal error occurred: ${message}`, { causes: [{ message }] }),
}

/** The response to a deletion that removed the object. */
export function deletedStatus(resource: ResourceName, name: string, uid: string | undefined): Status {
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details: { ...resourceDetails(resource, name), ...(uid && { uid }) },
  }
}
