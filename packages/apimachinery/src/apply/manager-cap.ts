// SPDX-License-Identifier: Apache-2.0

import { union } from './field-set.ts'
import { compareGoText } from './go-text.ts'
import { type Owners, type Ownership, ownerId, secondsOf } from './managed-fields.ts'

/** The maximum number of managers with the operation Update. */
const maximumUpdateManagers = 10

const oldUpdates = 'ancient-changes'

/**
 * Merges the oldest update managers beyond the limit into one per version, with the latest of their times.
 */
export function capUpdateManagers(owners: Owners): Owners {
  const updaters = [...owners].filter(([, owner]) => owner.operation === 'Update')
  let excess = updaters.length - maximumUpdateManagers
  if (excess <= 0) return owners
  updaters.sort(
    ([a, left], [b, right]) => secondsOf(left.time) - secondsOf(right.time) || compareGoText(a, b),
  )
  const result = new Map<string, Ownership>(owners)
  const firstOfVersion = new Map<string, string>()
  for (const [id, owner] of updaters) {
    if (excess <= 0) break
    const first = firstOfVersion.get(owner.apiVersion)
    if (first === undefined) {
      firstOfVersion.set(owner.apiVersion, id)
      continue
    }
    mergeInto(result, first, id, owner)
    excess--
  }
  return result
}

function mergeInto(owners: Map<string, Ownership>, first: string, id: string, owner: Ownership): void {
  const bucket: Omit<Ownership, 'fields' | 'time'> = {
    manager: oldUpdates,
    operation: 'Update',
    apiVersion: owner.apiVersion,
    subresource: '',
  }
  const bucketId = ownerId(bucket)
  const known = owners.get(bucketId) ?? owners.get(first)!
  if (!owners.has(bucketId)) owners.delete(first)
  owners.set(bucketId, { ...bucket, time: owner.time, fields: union(owner.fields, known.fields) })
  if (id !== bucketId) owners.delete(id)
}
