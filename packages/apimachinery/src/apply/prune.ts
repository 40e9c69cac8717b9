// SPDX-License-Identifier: Apache-2.0

import { difference, ensureNamedFields, type FieldSet, intersection, isEmptySet, union } from './field-set.ts'
import type { FieldType } from './field-type.ts'
import { removeItems } from './remove-items.ts'
import { toFieldSet } from './to-field-set.ts'

/**
 * Removes from a merged object what its applier applied the last time and no longer does, unless someone owns it.
 *
 * `owned` is what all owners own now, the applier with its new fields among them.
 */
export function prune(
  merged: unknown,
  last: FieldSet,
  applied: FieldSet,
  owned: () => FieldSet,
  type: FieldType,
): unknown {
  // A set of applied fields contains the items that lead to its members, so nothing of `last` can go if all is there.
  if (isEmptySet(difference(last, applied))) return merged
  const named = (set: FieldSet) => ensureNamedFields(set, type)
  const lastNamed = named(last)
  const all = named(toFieldSet(merged, type))

  // Removing an item takes along what others own inside of it; that comes back here.
  const bare = removeItems(merged, lastNamed, type)
  const kept = union(named(toFieldSet(bare, type)), named(owned()))
  const withOwned = removeItems(merged, difference(all, kept), type)

  // What was removed but was never the applier's to remove comes back too: nobody owns it, or it was defaulted.
  const gone = difference(all, named(toFieldSet(withOwned, type)))
  return removeItems(merged, intersection(gone, lastNamed), type)
}
