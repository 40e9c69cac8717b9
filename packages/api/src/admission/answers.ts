// SPDX-License-Identifier: Apache-2.0

import { describeFieldError, type FieldError, fieldErrorReason } from '@grove/apimachinery'
import { cut, rejectionMessage, shortened, shortenedWarnings } from './long-texts.ts'

/** What is wrong with one field, as it stands in the details of a Kubernetes Status. */
export interface Cause {
  readonly field: string
  readonly message: string
  readonly reason: string
}

export interface AdmissionAnswer {
  readonly allowed: boolean
  /** The code an API server would answer with. */
  readonly code: number
  readonly reason?: 'BadRequest' | 'Invalid' | 'Forbidden'
  readonly message?: string
  readonly causes?: readonly Cause[]
  readonly warnings: readonly string[]
  /** If allowed: the object as it would be stored. */
  readonly object?: unknown
}

export function allowed(code: 200 | 201, warnings: readonly string[], object?: unknown): AdmissionAnswer {
  return {
    allowed: true,
    code,
    warnings: shortenedWarnings(warnings),
    ...(object !== undefined && { object }),
  }
}

/**
 * The request makes no sense, or its object cannot be read. An API server sends no causes with this code; callers of
 * this package get them, so that they can name the place of each.
 */
export function badRequest(
  message: string,
  warnings: readonly string[] = [],
  causes: readonly Cause[] = [],
): AdmissionAnswer {
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

/** Refused by the schema: `title` is the kind with its group and the name, as API servers put it. */
export function invalid(
  title: string,
  errors: readonly FieldError[],
  warnings: readonly string[],
): AdmissionAnswer {
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

/** Refused by the rules. */
export function forbidden(errors: readonly FieldError[], warnings: readonly string[]): AdmissionAnswer {
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
