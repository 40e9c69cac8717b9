// SPDX-License-Identifier: Apache-2.0

/** Returns the message of any thrown value, for a message or a condition. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
