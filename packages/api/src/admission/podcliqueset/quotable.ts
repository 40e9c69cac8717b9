// SPDX-License-Identifier: Apache-2.0

/** Valid names have at most 253 characters. Longer ones are truncated to a recognisable length. */
const quotedCharacters = 1000

/**
 * A name as quoted in errors about other parts of the set. Without a limit, each of thousands of members could repeat a
 * group name of one megabyte.
 */
export function quotable(name: string): string {
  return name.length <= quotedCharacters ? name : `${name.slice(0, quotedCharacters)}…`
}
