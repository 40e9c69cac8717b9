// SPDX-License-Identifier: Apache-2.0
import { TypeError as CelTypeError, EvaluationError, ParseError } from '@marcbachmann/cel-js'

/** An error of the CEL library in the words of the API server where it has its own, in one line in any case. */
export function describeEvaluationError(error: unknown): string {
  if (!(error instanceof EvaluationError || error instanceof ParseError || error instanceof CelTypeError)) {
    return error instanceof Error ? error.message : String(error)
  }
  switch (error.code) {
    case 'no_such_key':
      return error.summary.replace(/^No such key/, 'no such key')
    case 'index_out_of_bounds':
      return `index out of bounds: ${/index (-?\d+)/.exec(error.summary)?.[1] ?? 'unknown'}`
    case 'modulo_by_zero':
      return 'modulus by zero'
    case 'numeric_overflow':
      return 'integer overflow'
    case 'no_such_overload':
    case 'no_matching_overload':
      return error instanceof EvaluationError ? 'no such overload' : error.summary
    default:
      return error.summary
  }
}
