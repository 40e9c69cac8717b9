// SPDX-License-Identifier: Apache-2.0

import type { KubeObject } from '../object.ts'

/** Where a store writes what must outlive the process. A write is acknowledged only after `append` returned. */
export interface Journal {
  /** All objects as they were last written, and the revision reached. */
  load(): { readonly revision: number; readonly entries: Iterable<JournalEntry> }
  append(entry: { resource: string; key: string; revision: number; object: KubeObject | undefined }): void
  close(): void
}

export interface JournalEntry {
  readonly resource: string
  readonly key: string
  readonly object: KubeObject
}
