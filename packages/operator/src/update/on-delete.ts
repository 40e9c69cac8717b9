// SPDX-License-Identifier: Apache-2.0

import { announcedProgress } from './progress.ts'
import type { UpdateStrategy } from './strategy.ts'

/** Replaces nothing: pods get the new template when the user deletes them. An update ends when it is announced. */
export const onDelete: UpdateStrategy = {
  type: 'OnDelete',
  replacesPods: false,
  progress: announcedProgress,
  select: () => ({ next: [], surge: 0, nextSurge: [] }),
}
