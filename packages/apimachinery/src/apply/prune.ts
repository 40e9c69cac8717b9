// SPDX-License-Identifier: Apache-2.0

import { difference, ensureNamedFields, type FieldSet, intersection, isEmptySet, union } from './field-set.ts'
import type { FieldType } from './field-type.ts'
import { removeItems } from './remove-items.ts'
import { toFieldSet } from './to-field-set.ts'

/**
 * Removes the fields that the applier applied before and omits now, unless another manager owns them. `owned`
 * is the union of all owners, including the new fields of the applier.
 */
export function prune(
  merged: unknown,
  last: FieldSet,
  applied: FieldSet,
  owned: () => FieldSet,
  type: FieldType,
): unknown {
  // Field sets contain the items on the path to their members, so an empty difference means that nothing is
  // removed.
  if (isEmptySet(difference(last, applied))) return merged
  const named = (set: FieldSet) => ensureNamedFields(set, type)
  const lastNamed = named(last)
  const all = named(toFieldSet(merged, type))

  // Removing an item also removes fields inside it that other managers own. They are restored here.
  const bare = removeItems(merged, lastNamed, type)
  const kept = union(named(toFieldSet(bare, type)), named(owned()))
  const withOwned = removeItems(merged, difference(all, kept), type)

  // Fields that the applier did not own are restored too: they have no owner or come from defaults.
  const gone = difference(all, named(toFieldSet(withOwned, type)))
  return removeItems(merged, intersection(gone, lastNamed), type)
}
