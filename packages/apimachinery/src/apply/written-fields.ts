// SPDX-License-Identifier: Apache-2.0

import { type FieldSet, fields, recursiveDifference } from './field-set.ts'
import type { FieldFilter } from './update-owners.ts'

/** All but these fields and what is below them. */
export function excluding(...paths: readonly string[]): FieldFilter {
  const excluded = fields(...paths)
  return (set: FieldSet) => recursiveDifference(set, excluded)
}

/** Writes to an object whose status has its own way. */
export const managedByMain: FieldFilter = excluding('status')

/** Writes to the status; built-in kinds differ in what else they leave alone. */
export const managedByStatus = {
  custom: excluding('metadata', 'spec'),
  builtIn: excluding('spec'),
  pod: excluding('spec', 'metadata.deletionTimestamp', 'metadata.ownerReferences'),
  deployment: excluding('spec', 'metadata.labels'),
} as const
