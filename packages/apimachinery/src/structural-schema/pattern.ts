// SPDX-License-Identifier: Apache-2.0

import { RE2JS } from 're2js'

export type { RE2JS as GoRegExp } from 're2js'

/**
 * A regular expression in the syntax of Go. It matches in linear time, as in Go, whatever its author wrote. An invalid
 * expression throws an error with the message of Go's parser.
 */
export function goRegExp(pattern: string): RE2JS {
  return RE2JS.compile(pattern)
}
