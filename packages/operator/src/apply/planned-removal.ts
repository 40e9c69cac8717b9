// SPDX-License-Identifier: Apache-2.0

// Deletes many objects of one owner. A label alone proves nothing about ownership: users copy labels, as `kubectl
// expose` does. The operator deletes a collection by label only while the cache shows that every matching object is to
// be deleted. Otherwise it deletes each object by name with its UID. See
// docs/decisions/0011-only-own-objects-are-deleted.md.
import {
  type Client,
  isKubeError,
  type KubeObject,
  labelMatcher,
  mayBeCarriedOut,
  type Resource,
  type Stored,
} from '@grove/kube'
import { deleteByUid } from './delete-by-uid.ts'
import { runAll } from './writes.ts'

export interface PlannedRemoval {
  readonly namespace: string
  readonly labelSelector: string
  /** UIDs of the objects to delete. Objects that they control are deleted as well. */
  readonly planned: ReadonlySet<string>
}

/** The part of a watch cache that contains the objects that a selector matches. */
export interface KnownObjects<T extends KubeObject = KubeObject> {
  readonly resource: Resource<T>
  list(namespace: string): Stored<T>[]
}

/**
 * The selector must match no object that is missing from the cache. A collection request is never repeated, because it
 * deletes every object that matches when it arrives. After a response that leaves the outcome open, the remaining
 * planned objects are listed and deleted by UID.
 */
export async function removePlanned<T extends KubeObject>(
  known: KnownObjects<T>,
  { namespace, labelSelector, planned }: PlannedRemoval,
  client: Pick<Client, 'deleteCollection' | 'delete' | 'find' | 'list'>,
  signal: AbortSignal,
): Promise<void> {
  const { resource } = known
  const matching = known.list(namespace).filter(labelMatcher(labelSelector))
  const remaining = (objects: readonly Stored<T>[]) =>
    objects.filter(object => !object.metadata.deletionTimestamp && isPlanned(object, planned))
  if (remaining(matching).length === 0) return
  const byUid = async (objects: readonly Stored<T>[]) => {
    const failures = await removeByUid(resource, remaining(objects), client, signal)
    // There may be thousands of failures with one cause: report one.
    if (failures.length) throw failures[0]
  }
  if (!matching.every(object => isPlanned(object, planned))) return byUid(matching)
  const options = { namespace, labelSelector, signal }
  try {
    await client.deleteCollection(resource, options)
  } catch (error) {
    if (!isKubeError(error) || !mayBeCarriedOut(error)) throw error
    const { items } = await client.list(resource, options)
    await byUid(items)
  }
}

/** Deletes exactly these objects, and never successors with the same names. Returns the failures. */
function removeByUid<T extends KubeObject>(
  resource: Resource<T>,
  objects: readonly Stored<T>[],
  client: Pick<Client, 'delete' | 'find'>,
  signal: AbortSignal,
): Promise<unknown[]> {
  return runAll(objects.map(object => () => deleteByUid(client, resource, object, signal)))
}

export function uidsOf(objects: readonly KubeObject[]): Set<string> {
  return new Set(objects.map(({ metadata }) => metadata?.uid ?? ''))
}

function isPlanned({ metadata }: KubeObject, planned: ReadonlySet<string>): boolean {
  const controller = metadata?.ownerReferences?.find(owner => owner.controller)
  return planned.has(metadata?.uid ?? '') || (controller !== undefined && planned.has(controller.uid))
}
