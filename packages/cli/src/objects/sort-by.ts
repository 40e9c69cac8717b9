// SPDX-License-Identifier: Apache-2.0

// `--sort-by` sorts objects and table rows by the first value of a path.
import { compareQuantities, QuantityError, readQuantity } from '@grove/apimachinery/quantity'
import { CommandError } from '../command-error.ts'
import { parseRelaxedPath } from './json-path.ts'
import { evaluatePath } from './json-path-values.ts'

/** Objects without the field come first. Equal objects keep their order. */
export function sortedBy<T>(field: string, items: readonly T[], objectOf: (item: T) => unknown): T[] {
  const { path, written } = parseRelaxedPath(field)
  const keyed = items.map(item => ({ item, values: evaluatePath(path, [objectOf(item)]) }))
  if (items.length > 0 && keyed.every(({ values }) => values.length === 0))
    throw new CommandError(`couldn't find any field with path "${written}" in the list of objects`, 1)
  return keyed
    .sort((a, b) => {
      if (a.values.length === 0 || b.values.length === 0) return a.values.length - b.values.length
      return compareValues(a.values[0], b.values[0], field)
    })
    .map(({ item }) => item)
}

function compareValues(a: unknown, b: unknown, field: string): number {
  if (a === null || b === null) return Number(a !== null) - Number(b !== null)
  if (typeof a === 'number' && typeof b === 'number') return a - b
  if (typeof a === 'string' && typeof b === 'string') return compareTexts(a, b)
  throw new CommandError(
    `cannot sort by ${field}: its values must all be text or all be numbers, and not lists, objects or booleans`,
    1,
  )
}

/** Compares amounts such as 500Mi and 2Gi by size. */
function compareTexts(a: string, b: string): number {
  const [left, right] = [readQuantity(a), readQuantity(b)]
  if (!(left instanceof QuantityError) && !(right instanceof QuantityError))
    return compareQuantities(left, right)
  return a < b ? -1 : Number(a > b)
}
