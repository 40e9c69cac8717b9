// SPDX-License-Identifier: Apache-2.0

// Every failure of an API request, as one class with a stable code. The message is the server's if there is one.
// Request bodies and credentials never appear in it.

export type KubeErrorCode =
  | 'BadRequest'
  | 'Unauthorized'
  | 'Forbidden'
  | 'NotFound'
  | 'MethodNotAllowed'
  | 'NotAcceptable'
  | 'AlreadyExists'
  | 'Conflict'
  /** The resourceVersion or continue token is older than the history that the server keeps: list again. */
  | 'Gone'
  | 'Invalid'
  | 'TooLarge'
  | 'UnsupportedMediaType'
  | 'TooManyRequests'
  /** The request took too long, at the server or on the way; it may have been carried out. */
  | 'Timeout'
  /** The server could not finish in time; a repetition may help. */
  | 'ServerTimeout'
  | 'ServiceUnavailable'
  | 'Internal'
  /** The connection failed or was cut; `sent` is false if the request was certainly not carried out. */
  | 'Network'
  /** The caller's signal was aborted. */
  | 'Aborted'
  /** No credentials could be obtained: a token file is missing, a credential plugin failed. */
  | 'Credentials'
  /** The response does not conform to the API. */
  | 'Malformed'

export interface StatusCause {
  readonly reason?: string
  readonly message?: string
  readonly field?: string
}

export interface StatusDetails {
  readonly name?: string
  readonly group?: string
  readonly kind?: string
  readonly uid?: string
  readonly causes?: readonly StatusCause[]
  readonly retryAfterSeconds?: number
}

/** `metav1.Status`, as far as a client reads it. */
export interface Status {
  readonly kind?: string
  readonly status?: string
  readonly message?: string
  readonly reason?: string
  readonly details?: StatusDetails
  readonly code?: number
}

export interface RequestDescription {
  /** get, list, watch, create, update, patch, apply, delete, deletecollection. */
  readonly verb: string
  readonly path: string
}

export interface KubeErrorFields {
  readonly code: KubeErrorCode
  readonly message: string
  readonly request?: RequestDescription
  readonly status?: number
  readonly reason?: string
  readonly details?: StatusDetails
  readonly retryAfterSeconds?: number
  readonly sent?: boolean
  readonly cause?: unknown
}

export class KubeError extends Error {
  override readonly name = 'KubeError'
  readonly code: KubeErrorCode
  /** The failed request. */
  readonly request: RequestDescription | undefined
  /** The HTTP status; undefined if there was no response. */
  readonly status: number | undefined
  /** The server's own reason, which may be more specific than `code`. */
  readonly reason: string | undefined
  readonly details: StatusDetails | undefined
  readonly retryAfterSeconds: number | undefined
  /** False if the server certainly never received the request. */
  readonly sent: boolean

  constructor(fields: KubeErrorFields) {
    super(fields.message, fields.cause === undefined ? undefined : { cause: fields.cause })
    this.code = fields.code
    this.request = fields.request
    this.status = fields.status
    this.reason = fields.reason
    this.details = fields.details
    this.retryAfterSeconds = fields.retryAfterSeconds
    this.sent = fields.sent ?? true
  }
}

/** Reports whether this is a KubeError, with one of these codes if any are given. */
export function isKubeError(error: unknown, ...codes: readonly KubeErrorCode[]): error is KubeError {
  return error instanceof KubeError && (codes.length === 0 || codes.includes(error.code))
}

export const isNotFound = (error: unknown): error is KubeError => isKubeError(error, 'NotFound')
export const isConflict = (error: unknown): error is KubeError => isKubeError(error, 'Conflict')
export const isAlreadyExists = (error: unknown): error is KubeError => isKubeError(error, 'AlreadyExists')

export type Outcome<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: KubeError }

/** Waits for a request and returns its failure as a value. Rethrows everything but a KubeError, because it is a bug. */
export async function outcome<T>(request: Promise<T>): Promise<Outcome<T>> {
  try {
    return { ok: true, value: await request }
  } catch (error) {
    if (error instanceof KubeError) return { ok: false, error }
    throw error
  }
}

const codeOfReason: Readonly<Record<string, KubeErrorCode>> = {
  BadRequest: 'BadRequest',
  Unauthorized: 'Unauthorized',
  Forbidden: 'Forbidden',
  NotFound: 'NotFound',
  MethodNotAllowed: 'MethodNotAllowed',
  NotAcceptable: 'NotAcceptable',
  AlreadyExists: 'AlreadyExists',
  Conflict: 'Conflict',
  Gone: 'Gone',
  Expired: 'Gone',
  Invalid: 'Invalid',
  RequestEntityTooLarge: 'TooLarge',
  UnsupportedMediaType: 'UnsupportedMediaType',
  TooManyRequests: 'TooManyRequests',
  Timeout: 'Timeout',
  ServerTimeout: 'ServerTimeout',
  ServiceUnavailable: 'ServiceUnavailable',
  InternalError: 'Internal',
}

const codeOfStatus: Readonly<Record<number, KubeErrorCode>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  406: 'NotAcceptable',
  408: 'Timeout',
  409: 'Conflict',
  410: 'Gone',
  413: 'TooLarge',
  415: 'UnsupportedMediaType',
  422: 'Invalid',
  429: 'TooManyRequests',
  503: 'ServiceUnavailable',
  504: 'Timeout',
}

/** Returns the code of a failed response, from the server's reason or else from the HTTP status. */
export function codeOf(httpStatus: number, reason?: string): KubeErrorCode {
  return codeOfReason[reason ?? ''] ?? codeOfStatus[httpStatus] ?? 'Internal'
}
