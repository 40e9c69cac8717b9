// SPDX-License-Identifier: Apache-2.0

import { isJsonObject, type JsonObject } from '../json-value.ts'
import { conformanceError } from './conformance.ts'
import { difference, emptySet, type FieldSet, fields, isEmptySet, union } from './field-set.ts'
import {
  decodeManagedFields,
  encodeManagedFields,
  type ManagedFieldsEntry,
  type Owners,
  type Ownership,
  ownerId,
  wholeSeconds,
} from './managed-fields.ts'
import { capUpdateManagers } from './manager-cap.ts'
import type { OwnedKind } from './object-kind.ts'
import { gainedFields, reconcileOwners, takeFromOthers } from './update-owners.ts'

/** Fields that only the server sets have no owner. */
const serverFields: FieldSet = fields(
  'apiVersion',
  'kind',
  'metadata',
  'metadata.name',
  'metadata.namespace',
  'metadata.creationTimestamp',
  'metadata.selfLink',
  'metadata.uid',
  'metadata.clusterName',
  'metadata.generation',
  'metadata.managedFields',
  'metadata.resourceVersion',
)

export function withoutServerFields(set: FieldSet): FieldSet {
  return difference(set, serverFields)
}

export interface UpdateWrite {
  readonly kind: OwnedKind
  /** The stored object; absent if this write creates it. */
  readonly live: JsonObject | undefined
  /** The decoded and defaulted object before admission, with the managedFields that the client sent. */
  readonly object: JsonObject
  readonly manager: string
  readonly time: string
}

/** Returns the managedFields after a create, update or patch. Undefined: none. */
export function trackUpdate({
  kind,
  live,
  object,
  manager,
  time,
}: UpdateWrite): readonly ManagedFieldsEntry[] | undefined {
  const owners = sentOrLiveOwners(live, object, kind.subresource !== '')
  // An object without owners is tracked only after the first apply. Creation is always tracked.
  if (owners.size === 0 && uidOf(live) !== '') return undefined
  const after = updateOwners(owners, { kind, live, object, manager, time })
  return after ? encodeManagedFields(capUpdateManagers(after)) : liveEntries(live)
}

/** Returns undefined if the objects do not conform to their type, because changes cannot be determined. */
export function updateOwners(
  owners: Owners,
  { kind, live, object, manager, time }: UpdateWrite,
): Owners | undefined {
  const old = withoutManagedFields(live ?? kind.empty)
  const current = withoutManagedFields(object)
  const options = { allowDuplicates: true }
  if (conformanceError(current, kind.type, options) || conformanceError(old, kind.type, options))
    return undefined
  const { owners: others, comparison } = takeFromOthers(reconcileOwners(owners, kind.type), '', {
    old,
    current,
    type: kind.type,
    filter: kind.filter,
  })
  const gained = withoutServerFields(gainedFields(emptySet, comparison, kind.filter))
  if (isEmptySet(gained)) return others
  const self: Omit<Ownership, 'fields' | 'time'> = {
    manager: manager || 'unknown',
    operation: 'Update',
    apiVersion: kind.apiVersion,
    subresource: kind.subresource,
  }
  const id = ownerId(self)
  const before = others.get(id)?.fields ?? emptySet
  others.set(id, { ...self, time: wholeSeconds(time), fields: union(gained, before) })
  return others
}

/** Clients that do not send managedFields must not lose them. Other clients may edit or reset them. */
function sentOrLiveOwners(live: JsonObject | undefined, object: JsonObject, onlyLive: boolean): Owners {
  if (!onlyLive) {
    const sent = metadataOf(object).managedFields
    if (isReset(sent)) return new Map()
    const owners = tryDecode(sent)
    if (owners && owners.size > 0) return owners
  }
  return tryDecode(liveEntries(live)) ?? new Map()
}

/** An empty list, or one empty entry for clients that omit empty lists. */
function isReset(sent: unknown): boolean {
  if (!Array.isArray(sent)) return false
  if (sent.length === 0) return true
  return sent.length === 1 && isJsonObject(sent[0]) && Object.keys(sent[0]).length === 0
}

function tryDecode(entries: unknown): Owners | undefined {
  try {
    return decodeManagedFields(entries)
  } catch {
    return undefined
  }
}

export function metadataOf(object: JsonObject | undefined): JsonObject {
  return isJsonObject(object?.metadata) ? object.metadata : {}
}

function liveEntries(live: JsonObject | undefined): readonly ManagedFieldsEntry[] | undefined {
  const entries = metadataOf(live).managedFields
  return Array.isArray(entries) ? (entries as ManagedFieldsEntry[]) : undefined
}

function uidOf(live: JsonObject | undefined): string {
  const { uid } = metadataOf(live)
  return typeof uid === 'string' ? uid : ''
}

export function withoutManagedFields(object: JsonObject): JsonObject {
  if (!isJsonObject(object.metadata) || !Object.hasOwn(object.metadata, 'managedFields')) return object
  const { managedFields: _, ...metadata } = object.metadata
  return { ...object, metadata }
}

export function withManagedFields(
  object: JsonObject,
  entries: readonly ManagedFieldsEntry[] | undefined,
): JsonObject {
  const bare = withoutManagedFields(object)
  return entries ? { ...bare, metadata: { ...metadataOf(bare), managedFields: entries } } : bare
}
