// SPDX-License-Identifier: Apache-2.0

// Removes many by label in one request. What such a request hits is what matches when it arrives, so it is never sent
// a second time: after an answer that leaves open what was done the cluster is asked what is left, and of that only
// what was planned goes, one by one and by UID. What has come in its place meanwhile stays.
import {
  isConflict,
  isKubeError,
  isNotFound,
  type KubeObject,
  mayBeCarriedOut,
  type Resource,
} from '@grove/kube'
import type { World } from './world.ts'
import { runAll } from './writes.ts'

export interface PlannedRemoval {
  readonly namespace: string
  readonly labelSelector: string
  /** UIDs of what is to go; what they control goes as well. */
  readonly planned: ReadonlySet<string>
}

export async function removePlanned(
  resource: Resource<KubeObject>,
  { namespace, labelSelector, planned }: PlannedRemoval,
  { client }: Pick<World, 'client'>,
  signal: AbortSignal,
): Promise<void> {
  const options = { namespace, labelSelector, signal }
  try {
    await client.deleteCollection(resource, options)
    return
  } catch (error) {
    if (!isKubeError(error) || !mayBeCarriedOut(error)) throw error
  }
  const { items } = await client.list(resource, options)
  const left = items.filter(object => !object.metadata.deletionTimestamp && isPlanned(object, planned))
  const failures = await runAll(
    left.map(({ metadata: { name, uid } }) => async () => {
      try {
        await client.delete(resource, { namespace, name }, { signal, preconditions: { uid } })
      } catch (error) {
        // Gone, or another of that name.
        if (!isNotFound(error) && !isConflict(error)) throw error
      }
    }),
  )
  // One stands for all: they are many, and of one cause.
  if (failures.length) throw failures[0]
}

export function uidsOf(objects: readonly KubeObject[]): Set<string> {
  return new Set(objects.map(({ metadata }) => metadata?.uid ?? ''))
}

function isPlanned({ metadata }: KubeObject, planned: ReadonlySet<string>): boolean {
  const controller = metadata?.ownerReferences?.find(owner => owner.controller)
  return planned.has(metadata?.uid ?? '') || (controller !== undefined && planned.has(controller.uid))
}
