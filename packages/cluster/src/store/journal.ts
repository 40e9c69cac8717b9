// SPDX-License-Identifier: Apache-2.0

import type { KubeObject } from '../object.ts'

/** The persistence of a store. A write is acknowledged only after `append` returned. */
export interface Journal {
  /** Returns all objects as last written, and the last revision. */
  load(): { readonly revision: number; readonly entries: Iterable<JournalEntry> }
  append(entry: { resource: string; key: string; revision: number; object: KubeObject | undefined }): void
  close(): void
}

export interface JournalEntry {
  readonly resource: string
  readonly key: string
  readonly object: KubeObject
}
