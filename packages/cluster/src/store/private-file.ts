// SPDX-License-Identifier: Apache-2.0

import { chmodSync, statSync } from 'node:fs'

const othersMask = 0o077

/** Removes all permissions on a file or folder except those of its owner. */
export function restrictToOwner(path: string): void {
  const { mode } = statSync(path)
  if (mode & othersMask) chmodSync(path, mode & 0o7777 & ~othersMask)
}
