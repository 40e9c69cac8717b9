// SPDX-License-Identifier: Apache-2.0

import { describeCodedError, type ErrorCode, type LastError, type Operation } from '@grove/api'
import { isKubeError, messageOf } from '@grove/kube'

/** A failure in an object's `status.lastErrors`, with a code that tools can match. */
export class CodedError extends Error {
  readonly code: ErrorCode

  constructor(operation: Operation, code: ErrorCode, message: string, cause?: unknown) {
    super(describeCodedError(operation, code, message, cause === undefined ? undefined : messageOf(cause)), {
      cause,
    })
    this.code = code
  }
}

/** A failure in one part of a set. Keeps the code of its cause. */
export class ComponentFailed extends Error {
  readonly code: ErrorCode | undefined

  constructor(component: string, cause: unknown) {
    super(`failed to sync ${component}: ${messageOf(cause)}`, { cause })
    this.code = codeOf(cause)
  }
}

/** Several failures of one reconcile. */
export class ReconcileFailed extends AggregateError {
  override readonly errors: unknown[]
  /** The code of the first failure, if all of them have one. */
  readonly code: ErrorCode | undefined

  constructor(errors: readonly unknown[]) {
    super(errors, errors.map(messageOf).join('\n'))
    this.errors = [...errors]
    this.code = errors.every(error => codeOf(error) !== undefined) ? codeOf(errors[0]) : undefined
  }
}

/** Throws the failures of a reconcile. Throws a single failure unwrapped. */
export function throwIfAny(failures: readonly unknown[]): void {
  if (failures.length) throw failures.length === 1 ? failures[0] : new ReconcileFailed(failures)
}

/** Collects the failures of a part whose failure does not end the reconcile. */
export async function failuresOf(part: Promise<unknown>): Promise<unknown[]> {
  try {
    await part
    return []
  } catch (error) {
    return error instanceof ReconcileFailed ? error.errors : [error]
  }
}

/** Combines several failures into one error; undefined if there are none. */
export function aggregate(failures: readonly unknown[]): ReconcileFailed | undefined {
  const errors = failures.flatMap(failure =>
    failure instanceof ReconcileFailed ? failure.errors : [failure],
  )
  return errors.length ? new ReconcileFailed(errors) : undefined
}

/** A status with every error of a large set would exceed the size limit of the API server. */
const mostLastErrors = 20
/** Webhooks may return messages of any length. */
const longestDescription = 2_000

/**
 * Returns entries for `lastErrors`, a bounded number of them. A failure without a code gets the given code. An error
 * that the status already contains keeps its time, so that unchanged errors cause no write.
 */
export function lastErrorsOf(
  error: unknown,
  fallback: ErrorCode,
  now: string,
  before: readonly LastError[] = [],
): LastError[] {
  const errors = (error instanceof ReconcileFailed ? error.errors : [error]).filter(
    one => !isNamespaceTerminating(one),
  )
  const entries = errors.slice(0, mostLastErrors).map(one => ({
    code: codeOf(one) ?? fallback,
    description: shortened(messageOf(one)),
  }))
  const left = errors.length - entries.length
  if (left > 0)
    entries.push({
      code: codeOf(errors[mostLastErrors]) ?? fallback,
      description: `and ${left} more errors`,
    })
  return entries.map(({ code, description }) => ({
    code,
    description,
    observedAt:
      before.find(known => known.code === code && known.description === description)?.observedAt ?? now,
  }))
}

function shortened(text: string): string {
  return text.length > longestDescription ? `${text.slice(0, longestDescription)}…` : text
}

/**
 * Reports whether a write failed because its namespace is being deleted, in any part of a reconcile. The API server
 * rejects every creation there, and the set is about to be deleted. That is no error, and a retry would not help.
 */
export function isNamespaceTerminating(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some(isNamespaceTerminating)
  if (isKubeError(error, 'Forbidden'))
    return error.details?.causes?.some(({ reason }) => reason === 'NamespaceTerminating') ?? false
  return error instanceof Error && error.cause !== undefined && isNamespaceTerminating(error.cause)
}

/** The codes of the failures of a reconcile, each once. A failure without its own code has that of the API server. */
export function codesOf(error: unknown): readonly string[] {
  const errors = error instanceof AggregateError ? error.errors : [error]
  return [...new Set(errors.map(one => codeOf(one) ?? (isKubeError(one) ? one.code : 'Unknown')))]
}

function codeOf(error: unknown): ErrorCode | undefined {
  return error instanceof CodedError || error instanceof ComponentFailed ? error.code : undefined
}
