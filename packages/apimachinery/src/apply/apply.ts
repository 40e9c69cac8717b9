// SPDX-License-Identifier: Apache-2.0

// Server-side apply: a manager applies a configuration and owns exactly its fields afterwards.
import { equalJson, type JsonObject } from '../json-value.ts'
import {
  type ConflictCause,
  conflictCauses,
  conflictMessage,
  type FieldConflict,
  listConflicts,
} from './conflict.ts'
import { conformanceError } from './conformance.ts'
import { emptySet, equalSets, type FieldSet, union } from './field-set.ts'
import { allowedByLastApplied, syncLastApplied } from './last-applied.ts'
import {
  decodeManagedFields,
  encodeManagedFields,
  type Owners,
  type Ownership,
  ownerId,
  wholeSeconds,
  withOwner,
} from './managed-fields.ts'
import { merge } from './merge.ts'
import type { OwnedKind } from './object-kind.ts'
import { prune } from './prune.ts'
import { toFieldSet } from './to-field-set.ts'
import {
  metadataOf,
  updateOwners,
  withManagedFields,
  withoutManagedFields,
  withoutServerFields,
} from './track-update.ts'
import { reconcileOwners, takeFromOthers } from './update-owners.ts'

export interface ApplyWrite {
  readonly kind: OwnedKind
  /** The stored object; absent if this write creates it. */
  readonly live: JsonObject | undefined
  readonly configuration: JsonObject
  readonly manager: string
  /** Takes over fields of other managers. */
  readonly force: boolean
  readonly time: string
}

export type ApplyOutcome =
  | {
      readonly outcome: 'applied'
      /** Without defaults. Its managedFields are ready to be stored. */
      readonly object: JsonObject
    }
  | { readonly outcome: 'conflict'; readonly message: string; readonly causes: readonly ConflictCause[] }
  | { readonly outcome: 'bad request'; readonly message: string }
  /** The configuration cannot be merged. The API server returns an internal error. */
  | { readonly outcome: 'failed'; readonly message: string }

/** The manager that owns all existing fields at the first apply to an object without managedFields. */
const beforeFirstApply = 'before-first-apply'

/** The only manager that may take over fields that it applied on the client side before. */
const kubectl = 'kubectl'

export function applyConfiguration(write: ApplyWrite): ApplyOutcome {
  const { kind, live, configuration, manager, time } = write
  const invalid = checkConfiguration(kind, configuration)
  if (invalid) return invalid
  let owners: Owners
  try {
    owners = decodeManagedFields(metadataOf(live).managedFields)
  } catch (error) {
    return { outcome: 'failed', message: `failed to decode managed fields: ${(error as Error).message}` }
  }
  if (owners.size === 0 && live)
    owners =
      updateOwners(owners, { kind, live: undefined, object: live, manager: beforeFirstApply, time }) ?? owners

  const state: State = { ...write, owners, old: withoutManagedFields(live ?? kind.empty) }
  const problem = conformanceError(configuration, kind.type, { allowDuplicates: false })
  if (problem)
    return {
      outcome: 'failed',
      message: `failed to create typed patch object (${describe(configuration)}): ${problem}`,
    }
  const stored = conformanceError(state.old, kind.type, { allowDuplicates: true })
  if (stored)
    return {
      outcome: 'failed',
      message: `failed to create typed live object (${describe(state.old)}): ${stored}`,
    }

  const attempt = tryApply(state)
  if (attempt.conflicts.length > 0 && !write.force) {
    const remaining = manager === kubectl ? notAllowed(state, attempt.conflicts) : attempt.conflicts
    if (remaining.length > 0)
      return { outcome: 'conflict', message: conflictMessage(remaining), causes: conflictCauses(remaining) }
  }
  const object = manager === kubectl ? syncLastApplied(attempt.object, configuration) : attempt.object
  return { outcome: 'applied', object: withManagedFields(object, encodeManagedFields(attempt.owners)) }
}

function checkConfiguration(kind: OwnedKind, configuration: JsonObject): ApplyOutcome | undefined {
  if (configuration.apiVersion !== kind.apiVersion || configuration.kind !== kind.kind)
    return { outcome: 'bad request', message: `invalid object type: ${groupVersionKind(configuration)}` }
  if ((metadataOf(configuration).managedFields ?? undefined) !== undefined)
    return { outcome: 'bad request', message: 'metadata.managedFields must be nil' }
  return undefined
}

interface State extends ApplyWrite {
  readonly owners: Owners
  /** The live or empty object without its managedFields. */
  readonly old: JsonObject
}

interface Attempt {
  readonly object: JsonObject
  /** The owners with force: managers in conflict have lost the conflicting fields. */
  readonly owners: Owners
  readonly conflicts: readonly FieldConflict[]
}

function tryApply({ kind, old, configuration, manager, owners: before, time }: State): Attempt {
  const self: Omit<Ownership, 'fields'> = {
    manager: manager || 'unknown',
    operation: 'Apply',
    apiVersion: kind.apiVersion,
    subresource: kind.subresource,
    time: undefined,
  }
  const id = ownerId(self)
  const known = reconcileOwners(before, kind.type)
  const last = known.get(id)
  const applied = toFieldSet(configuration, kind.type)
  const owned = kind.filter ? kind.filter(applied) : applied
  const owners = new Map(known).set(id, { ...self, time: last?.time, fields: owned })

  const merged = merge(old, configuration, kind.type)
  const current = prune(merged, last?.fields ?? emptySet, owned, () => allFields(owners), kind.type)
  const after = takeFromOthers(owners, id, { old, current, type: kind.type, filter: kind.filter })
  const changed = current !== old && !equalJson(current, old)
  const mine = after.owners.get(id) ?? { ...self, fields: emptySet }
  const kept = withoutServerFields(mine.fields)
  return {
    object: (changed ? current : old) as JsonObject,
    owners: withOwner(after.owners, id, {
      ...mine,
      time: changed ? wholeSeconds(time) : mine.time,
      // Reuses an equal set, because its encoding is cached.
      fields: last && equalSets(kept, last.fields) ? last.fields : kept,
    }),
    conflicts: listConflicts(after.conflicts, owners),
  }
}

function allFields(owners: Owners): FieldSet {
  let all = emptySet
  for (const owner of owners.values()) all = union(all, owner.fields)
  return all
}

/** Returns the conflicts that remain after kubectl takes over the fields of its last-applied annotation. */
function notAllowed({ kind, old }: State, conflicts: readonly FieldConflict[]): readonly FieldConflict[] {
  const allowed = allowedByLastApplied(old, kind)
  return allowed ? conflicts.filter(({ path }) => !allowed(path)) : conflicts
}

/** `namespace/name; group/version, Kind=kind` */
function describe(object: JsonObject): string {
  const { namespace = '', name = '' } = metadataOf(object)
  return `${String(namespace)}/${String(name)}; ${groupVersionKind(object)}`
}

function groupVersionKind({ apiVersion = '', kind = '' }: JsonObject): string {
  const version = String(apiVersion)
  return `${version.includes('/') ? version : `/${version}`}, Kind=${String(kind)}`
}
