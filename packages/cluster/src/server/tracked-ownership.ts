// SPDX-License-Identifier: Apache-2.0

import {
  type ApplyOutcome,
  applyConfiguration,
  equalJson,
  type JsonObject,
  type ManagedFieldsEntry,
  sortFieldsV1,
  trackUpdate,
  withoutTimeOnlyChanges,
} from '@grove/apimachinery'
import type { KubeObject } from '../object.ts'
import type { Resource } from '../registry/resource.ts'
import { creationOwner } from './creation-owner.ts'
import type { FieldOwnership } from './field-ownership.ts'
import { ownedKindOf } from './owned-kind.ts'
import { ApiError, apiError } from './status.ts'

/** Server-side apply and managedFields like those of the real API server. */
export const tracked: FieldOwnership = {
  track(draft, live, write) {
    const { resource, subresource, manager, now } = write
    const kind = ownedKindOf(resource, subresource)
    if (resource.struct && !live && !draft.metadata.managedFields) {
      setEntries(draft, creationOwner(kind, draft, write))
      return
    }
    const sent = entriesOf(draft)
    if (live && sent.length > 0) setEntries(draft, asStored(sent, entriesOf(live)))
    setEntries(draft, written(resource, trackUpdate({ kind, live, object: draft, manager, time: now })))
  },

  apply(live, configuration, { resource, subresource, manager, now, force }) {
    const kind = ownedKindOf(resource, subresource)
    const outcome = applyConfiguration({
      kind,
      live,
      configuration,
      manager,
      force,
      time: now,
    })
    if (outcome.outcome !== 'applied') throw applyError(outcome)
    const merged = outcome.object as KubeObject
    const object = { ...merged, metadata: { ...merged.metadata } }
    setEntries(object, written(resource, entriesOf(object)))
    return object
  },

  dropTimeOnlyChanges: (object, live) =>
    withoutTimeOnlyChanges(object as JsonObject, live as JsonObject) as KubeObject,
}

type Entries = readonly ManagedFieldsEntry[]

function entriesOf({ metadata }: KubeObject): Entries {
  return (metadata.managedFields ?? []) as Entries
}

function setEntries({ metadata }: KubeObject, entries: Entries | undefined): void {
  if (entries && entries.length > 0)
    metadata.managedFields = entries as KubeObject['metadata']['managedFields']
  else delete metadata.managedFields
}

/**
 * Clients send managedFields back. Equal entries of the live object are used instead, because they are
 * already parsed.
 */
function asStored(sent: Entries, live: Entries): Entries {
  return sent.map(entry => live.find(stored => equalJson(stored, entry)) ?? entry)
}

const sorted = new WeakMap<JsonObject, JsonObject>()

/** Custom objects are encoded with sorted keys, and so are their managedFields. */
function written({ struct }: Resource, entries: Entries | undefined): Entries | undefined {
  if (struct || !entries) return entries
  return entries.map(entry => (entry.fieldsV1 ? { ...entry, fieldsV1: inOrder(entry.fieldsV1) } : entry))
}

function inOrder(fields: JsonObject): JsonObject {
  let known = sorted.get(fields)
  if (!known) {
    known = sortFieldsV1(fields)
    sorted.set(fields, known)
    sorted.set(known, known)
  }
  return known
}

function applyError(outcome: Exclude<ApplyOutcome, { readonly outcome: 'applied' }>): ApiError {
  switch (outcome.outcome) {
    case 'conflict':
      return new ApiError(409, 'Conflict', outcome.message, { causes: [...outcome.causes] })
    case 'bad request':
      return apiError.badRequest(outcome.message)
    case 'failed':
      return apiError.unexpected(outcome.message)
  }
}
