// SPDX-License-Identifier: Apache-2.0

import { quote } from '../quote.ts'
import { type FieldSet, pathsOf } from './field-set.ts'
import { compareGoText } from './go-text.ts'
import type { Owners, Ownership } from './managed-fields.ts'
import { describePath, type FieldPath } from './path-element.ts'

/** A field that another manager owns and that the applied configuration would change. */
export interface FieldConflict {
  readonly owner: Ownership
  readonly id: string
  readonly path: FieldPath
}

/** A cause in the details of the Status. */
export interface ConflictCause {
  readonly reason: 'FieldManagerConflict'
  readonly message: string
  readonly field: string
}

/** Sorted by manager, then by path. */
export function listConflicts(conflicts: ReadonlyMap<string, FieldSet>, owners: Owners): FieldConflict[] {
  return [...conflicts]
    .sort(([a], [b]) => compareGoText(a, b))
    .flatMap(([id, set]) => [...pathsOf(set)].map(path => ({ owner: owners.get(id)!, id, path })))
}

export function conflictCauses(conflicts: readonly FieldConflict[]): ConflictCause[] {
  return conflicts.map(({ owner, path }) => ({
    reason: 'FieldManagerConflict',
    message: `conflict with ${describeOwner(owner)}`,
    field: describePath(path),
  }))
}

export function conflictMessage(conflicts: readonly FieldConflict[]): string {
  const [first] = conflicts
  if (first && conflicts.length === 1)
    return `Apply failed with 1 conflict: conflict with ${describeOwner(first.owner)}: ${describePath(first.path)}`
  const lines: string[] = []
  conflicts.forEach(({ id, owner, path }, i) => {
    if (conflicts[i - 1]?.id !== id) lines.push(`conflicts with ${describeOwner(owner)}:`)
    lines.push(`- ${describePath(path)}`)
  })
  return `Apply failed with ${conflicts.length} conflicts: ${lines.join('\n')}`
}

function describeOwner({ manager, subresource, operation, apiVersion }: Ownership): string {
  const who = subresource ? `${quote(manager)} with subresource ${quote(subresource)}` : quote(manager)
  return operation === 'Update' ? `${who} using ${apiVersion}` : who
}
