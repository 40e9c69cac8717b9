// SPDX-License-Identifier: Apache-2.0
import { TypeError as CelTypeError, EvaluationError, ParseError } from '@marcbachmann/cel-js'

/** Formats an error of the CEL library in one line, with the message of the API server where it differs. */
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
    case 'bool_conversion_error':
      return conversionError('bool')
    case 'int_conversion_error':
      return conversionError('int')
    case 'double_conversion_error':
      return conversionError('double')
    case 'invalid_duration':
      return conversionError('google.protobuf.Duration')
    case 'invalid_timestamp':
      return conversionError('google.protobuf.Timestamp')
    case 'no_such_overload':
    case 'no_matching_overload':
      return error instanceof EvaluationError ? 'no such overload' : error.summary
    default:
      return error.summary
  }
}

function conversionError(type: string): string {
  return `type conversion error from 'string' to '${type}'`
}
