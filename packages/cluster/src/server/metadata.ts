// SPDX-License-Identifier: Apache-2.0

import {
  equalJson,
  type FieldError,
  fieldError,
  quote,
  validateObjectMeta,
  validateObjectMetaUpdate,
} from '@grove/apimachinery'
import type { KubeObject } from '../object.ts'
import { type Random, randomSuffix, randomUid } from '../random.ts'
import type { Resource } from '../registry/resource.ts'
import { apiError, type KindName } from './status.ts'

/** Generated names leave room for the suffix within a DNS label. */
const longestGeneratedPrefix = 58

/** Sets the metadata that only the server may set on a new object. */
export function stampNewObject(draft: KubeObject, now: string, random: Random): void {
  const { metadata } = draft
  delete metadata.selfLink
  delete metadata.deletionTimestamp
  delete metadata.deletionGracePeriodSeconds
  metadata.creationTimestamp = now
  metadata.uid = randomUid(random)
}

export function generateName(prefix: string, random: Random): string {
  return prefix.slice(0, longestGeneratedPrefix) + randomSuffix(random)
}

/** Restores immutable metadata from the live object if the client omitted or changed it. */
export function carryOverMetadata(draft: KubeObject, live: KubeObject): void {
  const { metadata } = draft
  delete metadata.selfLink
  if (live.metadata.generation === undefined) delete metadata.generation
  else metadata.generation = live.metadata.generation
  if (!metadata.uid) metadata.uid = live.metadata.uid
  metadata.creationTimestamp = live.metadata.creationTimestamp
  if (live.metadata.deletionTimestamp) metadata.deletionTimestamp = live.metadata.deletionTimestamp
  if (live.metadata.deletionGracePeriodSeconds !== undefined)
    metadata.deletionGracePeriodSeconds ??= live.metadata.deletionGracePeriodSeconds
}

/** Sets a missing namespace from the path. Rejects another namespace. */
export function ensureNamespace(draft: KubeObject, namespace: string): void {
  const { metadata } = draft
  if (!metadata.namespace) {
    if (namespace) metadata.namespace = namespace
  } else if (metadata.namespace !== namespace) {
    throw apiError.badRequest(
      'the namespace of the provided object does not match the namespace sent on the request',
    )
  }
}

/** Sets a missing name from the path. */
export function checkName(write: { readonly name: string }, object: KubeObject): void {
  if (object.metadata.name && object.metadata.name !== write.name)
    throw apiError.badRequest(
      `the name of the object (${object.metadata.name}) does not match the name on the URL (${write.name})`,
    )
}

/** An update must name its object. */
export function requireName(write: { readonly name: string }, object: KubeObject): void {
  if (!object.metadata.name)
    throw apiError.badRequest(
      `the name of the object (${write.name} based on URL) was undeterminable: name must be provided`,
    )
  checkName(write, object)
}

/** The apiVersion and kind in the object, which may differ from the path. Error messages use them. */
export function claimedKind(resource: Resource, { apiVersion, kind }: KubeObject): KindName {
  // Validation runs on the stored version, so messages name that version.
  if (resource.conversion && resource.struct)
    return { group: resource.storage.slice(resource.plural.length + 1), kind: resource.kind }
  const slash = apiVersion?.indexOf('/') ?? -1
  const group = apiVersion === undefined ? resource.group : apiVersion.slice(0, Math.max(slash, 0))
  return { group, kind: kind ?? resource.kind }
}

/** Validates the metadata of an object. `live` is the object that an update replaces. */
export function metadataErrors(resource: Resource, object: KubeObject, live?: KubeObject): FieldError[] {
  const { strategy, namespaced, struct } = resource
  if (strategy.validatesMetadata) return []
  const rules = { namespaced, name: strategy.nameRule }
  const errors = validateObjectMeta(object.metadata, rules)
  if (struct) errors.push(...unknownFinalizers(object))
  return live ? [...errors, ...validateObjectMetaUpdate(object.metadata, live.metadata)] : errors
}

const ownFinalizers = ['kubernetes', 'orphan', 'foregroundDeletion']

function isBareFinalizer(name: string): boolean {
  return !name.includes('/') && !ownFinalizers.includes(name)
}

function unknownFinalizers({ metadata: { finalizers = [] } }: KubeObject): FieldError[] {
  const why = 'name is neither a standard finalizer name nor is it fully qualified'
  return finalizers.flatMap((name, index) =>
    isBareFinalizer(name) ? [fieldError.invalid(`metadata.finalizers[${index}]`, name, why)] : [],
  )
}

/** Custom kinds accept any finalizer, but the first use of an unqualified name causes a warning. */
export function metadataWarnings({ metadata: { finalizers = [] } }: KubeObject, live?: KubeObject): string[] {
  return finalizers
    .filter(name => isBareFinalizer(name) && !live?.metadata.finalizers?.includes(name))
    .map(
      name =>
        `metadata.finalizers: ${quote(name)}: prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers`,
    )
}

/** Increments the generation on changes outside metadata and, for kinds with a status subresource, status. */
export function bumpGeneration(resource: Resource, draft: KubeObject, live: KubeObject): void {
  if (!resource.strategy.hasGeneration) return
  if (hasSpecChanged(resource, draft, live)) draft.metadata.generation = (live.metadata.generation ?? 0) + 1
}

function hasSpecChanged(resource: Resource, draft: KubeObject, live: KubeObject): boolean {
  if (resource.strategy.annotationsCount && !equalJson(draft.metadata.annotations, live.metadata.annotations))
    return true
  if (resource.conversion && resource.struct) {
    const { toStorage } = resource.conversion
    return !equalJson(toStorage(draft).spec, toStorage(live).spec)
  }
  if (resource.struct) return !equalJson(draft.spec, live.spec)
  const ignored = new Set([
    'metadata',
    'apiVersion',
    'kind',
    ...(resource.strategy.hasStatus ? ['status'] : []),
  ])
  for (const key of new Set([...Object.keys(draft), ...Object.keys(live)]))
    if (!ignored.has(key) && !equalJson(draft[key], live[key])) return true
  return false
}
