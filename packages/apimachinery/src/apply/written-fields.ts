// SPDX-License-Identifier: Apache-2.0

import { type FieldSet, fields, recursiveDifference } from './field-set.ts'
import type { FieldFilter } from './update-owners.ts'

/** Removes these fields and everything below them. */
export function excluding(...paths: readonly string[]): FieldFilter {
  const excluded = fields(...paths)
  return (set: FieldSet) => recursiveDifference(set, excluded)
}

/** For the main resource of a kind with a status subresource. */
export const managedByMain: FieldFilter = excluding('status')

const allButStatus = ['spec', 'metadata']

/** The fields that a status write of a built-in kind does not change, if these are more than the spec. */
const excludedFromStatus: Readonly<Record<string, readonly string[]>> = {
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

/** For the status subresource. */
export function managedByStatus(kind: string, { custom }: { readonly custom: boolean }): FieldFilter {
  if (custom) return excluding(...allButStatus)
  return excluding(...(Object.hasOwn(excludedFromStatus, kind) ? excludedFromStatus[kind]! : ['spec']))
}
