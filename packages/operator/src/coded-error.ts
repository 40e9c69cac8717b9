// SPDX-License-Identifier: Apache-2.0

import { describeCodedError, type ErrorCode, type LastError, type Operation } from '@grove/api'

/** A failure that stands in an object's `status.lastErrors`, with a code that tools can match. */
export class CodedError extends Error {
  readonly code: ErrorCode

  constructor(operation: Operation, code: ErrorCode, message: string, cause?: unknown) {
    super(describeCodedError(operation, code, message, cause === undefined ? undefined : textOf(cause)), {
      cause,
    })
    this.code = code
  }
}

/** A failure in one part of a set; its code stays. */
export class ComponentFailed extends Error {
  readonly code: ErrorCode | undefined

  constructor(component: string, cause: unknown) {
    super(`failed to sync ${component}: ${textOf(cause)}`, { cause })
    this.code = codeOf(cause)
  }
}

/** Several failures of one pass. */
export class PassFailed extends AggregateError {
  override readonly errors: unknown[]

  constructor(errors: readonly unknown[]) {
    super(errors, errors.map(textOf).join('\n'))
    this.errors = [...errors]
  }
}

/** What went wrong in a part of a pass whose failure does not end the pass. */
export async function failuresOf(part: Promise<unknown>): Promise<unknown[]> {
  try {
    await part
    return []
  } catch (error) {
    return error instanceof PassFailed ? error.errors : [error]
  }
}

/** What went wrong in several parts, as one; undefined where nothing did. */
export function together(...failures: readonly unknown[]): PassFailed | undefined {
  const errors = failures
    .filter(failure => failure !== undefined)
    .flatMap(failure => (failure instanceof PassFailed ? failure.errors : [failure]))
  return errors.length ? new PassFailed(errors) : undefined
}

/** Entries for `lastErrors`. A failure without a code of its own is told too, under the code given. */
export function lastErrorsOf(error: unknown, fallback: ErrorCode, now: string): LastError[] {
  const errors = error instanceof PassFailed ? error.errors : [error]
  return errors.map(one => ({
    code: codeOf(one) ?? fallback,
    description: textOf(one),
    observedAt: now,
  }))
}

function codeOf(error: unknown): ErrorCode | undefined {
  return error instanceof CodedError || error instanceof ComponentFailed ? error.code : undefined
}

export function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
