// SPDX-License-Identifier: Apache-2.0

import { RE2JS } from 're2js'

export type { RE2JS as GoRegExp } from 're2js'

/**
 * Compiles a regular expression in Go's syntax, which matches in linear time. An invalid expression throws an
 * error with the message of Go's parser.
 */
export function goRegExp(pattern: string): RE2JS {
  return RE2JS.compile(pattern)
}
