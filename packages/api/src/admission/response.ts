// SPDX-License-Identifier: Apache-2.0

import { describeFieldError, type FieldError, fieldErrorReason } from '@grove/apimachinery'
import { cut, rejectionMessage, shortened, shortenedWarnings } from './long-texts.ts'

/** One invalid field, as in the details of a Kubernetes Status. */
export interface Cause {
  readonly field: string
  readonly message: string
  readonly reason: string
}

export interface AdmissionResponse {
  readonly allowed: boolean
  /** The HTTP code that an API server would return. */
  readonly code: number
  readonly reason?: 'BadRequest' | 'Invalid' | 'Forbidden'
  readonly message?: string
  readonly causes?: readonly Cause[]
  readonly warnings: readonly string[]
  /** If allowed: the object as it would be stored. */
  readonly object?: unknown
}

export function allowed(code: 200 | 201, warnings: readonly string[], object?: unknown): AdmissionResponse {
  return {
    allowed: true,
    code,
    warnings: shortenedWarnings(warnings),
    ...(object !== undefined && { object }),
  }
}

/**
 * The request is malformed, or its object cannot be decoded. An API server sends no causes with this code. Callers of
 * this package get them, so that they can locate each mistake.
 */
export function badRequest(
  message: string,
  warnings: readonly string[] = [],
  causes: readonly Cause[] = [],
): AdmissionResponse {
  return {
    allowed: false,
    code: 400,
    reason: 'BadRequest',
    message: cut(message),
    ...(causes.length > 0 && {
      causes: causes.map(cause => ({ ...cause, field: cut(cause.field), message: cut(cause.message) })),
    }),
    warnings: shortenedWarnings(warnings),
  }
}

/** Rejected by the schema. `title` is the kind with its group and the name, as API servers print it. */
export function invalid(
  title: string,
  errors: readonly FieldError[],
  warnings: readonly string[],
): AdmissionResponse {
  const shown = shortened(errors)
  return {
    allowed: false,
    code: 422,
    reason: 'Invalid',
    message: `${cut(title)} is invalid: ${rejectionMessage(errors)}`,
    causes: shown.map(causeOf),
    warnings: shortenedWarnings(warnings),
  }
}

/** Rejected by a validation rule. */
export function forbidden(errors: readonly FieldError[], warnings: readonly string[]): AdmissionResponse {
  const shown = shortened(errors)
  return {
    allowed: false,
    code: 403,
    reason: 'Forbidden',
    message: rejectionMessage(errors),
    causes: shown.map(causeOf),
    warnings: shortenedWarnings(warnings),
  }
}

function causeOf(error: FieldError): Cause {
  return { field: error.field, message: describeFieldError(error), reason: fieldErrorReason(error) }
}
