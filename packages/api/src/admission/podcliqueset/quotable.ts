// SPDX-License-Identifier: Apache-2.0

/** Valid names have at most 253 characters; of others enough is shown to recognise them. */
const quotedCharacters = 1000

/**
 * A name as errors about other parts of the set quote it. Without a limit each of thousands of members could repeat
 * the name of a megabyte that its group has.
 */
export function quotable(name: string): string {
  return name.length <= quotedCharacters ? name : `${name.slice(0, quotedCharacters)}…`
}
