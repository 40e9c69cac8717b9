// SPDX-License-Identifier: Apache-2.0

// The replicas of a Scale are stored in the scaled object, so both have the same field owners.
import { difference, fields, hasPath, setOf } from './field-set.ts'
import {
  decodeManagedFields,
  encodeManagedFields,
  type ManagedFieldsEntry,
  type Ownership,
} from './managed-fields.ts'
import { type FieldPath, fieldElement } from './path-element.ts'

const scaleApiVersion = 'autoscaling/v1'

const replicasOfScale = fields('spec.replicas')
const replicasPath: FieldPath = [fieldElement('spec'), fieldElement('replicas')]

/** Returns the managedFields of a Scale: the owners of the replicas of its object. */
export function scaleManagedFields(entries: unknown, replicas: FieldPath): ManagedFieldsEntry[] | undefined {
  const owners = new Map<string, Ownership>()
  for (const [id, owner] of decodeManagedFields(entries))
    if (hasPath(owner.fields, replicas))
      owners.set(id, { ...owner, apiVersion: scaleApiVersion, fields: replicasOfScale })
  return encodeManagedFields(owners)
}

/**
 * Returns the managedFields of the object after a write to its Scale with the resulting entries
 * `scaleEntries`.
 */
export function managedFieldsAfterScale(
  entries: unknown,
  scaleEntries: unknown,
  replicas: FieldPath,
  apiVersion: string,
): ManagedFieldsEntry[] | undefined {
  const before = decodeManagedFields(entries)
  const scalers = new Map(decodeManagedFields(scaleEntries))
  const owners = new Map<string, Ownership>()
  for (const [id, owner] of before) {
    if (hasPath(owner.fields, replicas) && !scalers.has(id)) {
      const rest = difference(owner.fields, setOf(replicas))
      if (rest.size > 0) owners.set(id, { ...owner, fields: rest })
      continue
    }
    owners.set(id, owner)
    if (hasPath(owner.fields, replicas)) scalers.delete(id)
  }
  // The API server drops the time of managers that own the replicas only through the scale subresource.
  for (const [id, owner] of scalers)
    if (hasPath(owner.fields, replicasPath))
      owners.set(id, { ...owner, time: before.get(id)?.time, apiVersion, fields: setOf(replicas) })
  return encodeManagedFields(owners)
}
