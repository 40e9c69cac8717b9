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

const allButStatus = ['spec', 'metadata']

/** What writes to the status of a built-in kind leave alone, where that is not just the spec. */
const leftAloneByStatus: Readonly<Record<string, readonly string[]>> = {
  CompositePodGroup: allButStatus,
  CSINode: allButStatus,
  Deployment: ['spec', 'metadata.labels'],
  DeviceTaintRule: allButStatus,
  FlowSchema: allButStatus,
  Pod: ['spec', 'metadata.deletionTimestamp', 'metadata.ownerReferences'],
  PodGroup: allButStatus,
  PriorityLevelConfiguration: allButStatus,
  ResourceClaim: allButStatus,
  ServiceCIDR: allButStatus,
  ValidatingAdmissionPolicy: allButStatus,
  VolumeAttachment: allButStatus,
}

/** Writes to the status of a kind. */
export function managedByStatus(kind: string, { custom }: { readonly custom: boolean }): FieldFilter {
  if (custom) return excluding(...allButStatus)
  return excluding(...(Object.hasOwn(leftAloneByStatus, kind) ? leftAloneByStatus[kind]! : ['spec']))
}
