// SPDX-License-Identifier: Apache-2.0

import { type Comparison, compare } from './compare.ts'
import { difference, emptySet, type FieldSet, intersection, isEmptySet, union } from './field-set.ts'
import type { FieldType } from './field-type.ts'
import type { Owners, Ownership } from './managed-fields.ts'
import { reconcileWithType } from './reconcile.ts'

/**
 * Removes the fields that a subresource never changes, for example the status in writes to the main resource.
 */
export type FieldFilter = (fields: FieldSet) => FieldSet

export interface Transition {
  readonly old: unknown
  readonly current: unknown
  readonly type: FieldType
  readonly filter: FieldFilter | undefined
}

export interface OwnersAfter {
  readonly owners: Map<string, Ownership>
  readonly comparison: Comparison
  /** The changed fields that other managers owned, by manager. They lose these fields. */
  readonly conflicts: ReadonlyMap<string, FieldSet>
}

/** Removes changed and removed fields from all managers except `except`. Drops managers without fields. */
export function takeFromOthers(owners: Owners, except: string, transition: Transition): OwnersAfter {
  const comparison = filtered(compare(transition.old, transition.current, transition.type), transition.filter)
  const touched = union(comparison.modified, comparison.added)
  const conflicts = new Map<string, FieldSet>()
  const result = new Map<string, Ownership>()
  for (const [id, owner] of owners) {
    let { fields } = owner
    if (id !== except) {
      const conflict = isEmptySet(touched) ? emptySet : intersection(fields, touched)
      if (!isEmptySet(conflict)) {
        conflicts.set(id, conflict)
        fields = difference(fields, conflict)
      }
      fields = difference(fields, comparison.removed)
    }
    if (!isEmptySet(fields)) result.set(id, fields === owner.fields ? owner : { ...owner, fields })
  }
  return { owners: result, comparison, conflicts }
}

function filtered(comparison: Comparison, filter: FieldFilter | undefined): Comparison {
  if (!filter) return comparison
  return {
    added: filter(comparison.added),
    removed: filter(comparison.removed),
    modified: filter(comparison.modified),
  }
}

/** Returns the fields of the writer after the change, given its fields before. */
export function gainedFields(
  before: FieldSet,
  { added, removed, modified }: Comparison,
  filter?: FieldFilter,
): FieldSet {
  const fields = union(union(difference(before, removed), modified), added)
  return filter ? filter(fields) : fields
}

export function reconcileOwners(owners: Owners, type: FieldType): Owners {
  let result: Map<string, Ownership> | undefined
  for (const [id, owner] of owners) {
    const fields = reconcileWithType(owner.fields, type)
    if (fields === owner.fields) continue
    result ??= new Map(owners)
    result.set(id, { ...owner, fields })
  }
  return result ?? owners
}
