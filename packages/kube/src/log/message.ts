// SPDX-License-Identifier: Apache-2.0

/** The sentence of an error for a message or a condition, whatever was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
