// SPDX-License-Identifier: Apache-2.0

/** A moment as the API writes it: whole seconds. */
export function timestamp(epochMs: number): string {
  return new Date(epochMs).toISOString().replace(/\.\d{3}Z$/, 'Z')
}
