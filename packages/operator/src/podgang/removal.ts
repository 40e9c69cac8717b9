// SPDX-License-Identifier: Apache-2.0

// Deletes PodGangs.
import {
  eventSource,
  events,
  label,
  managedLabels,
  type PodClique,
  type PodGang,
  selectorText,
  setErrorCode,
} from '@grove/api'
import type { Stored } from '@grove/kube'
import { removeByUid, removePlanned, uidsOf } from '../apply/planned-removal.ts'
import { runAll } from '../apply/writes.ts'
import type { Caches } from '../caches/caches.ts'
import { resources } from '../caches/resources.ts'
import { CodedError, textOf } from '../errors/coded-error.ts'
import { isControlledBy } from '../layout/owner.ts'
import type { StoredSet } from '../layout/stored.ts'
import type { OperatorContext } from '../operator-context.ts'

/** The gangs of the set that these cliques belong to. */
export function gangsOf(
  { metadata: { namespace, uid } }: StoredSet,
  cliques: readonly PodClique[],
  caches: Caches,
): Stored<PodGang>[] {
  const names = new Set(cliques.map(({ metadata }) => metadata.labels?.[label.podGang] ?? ''))
  return [...names]
    .map(name => caches.gangs.get({ namespace, name }))
    .filter(gang => gang !== undefined)
    .filter(gang => isControlledBy(gang, uid))
}

/**
 * Deletes gangs that the set controls, unless they are terminating. Returns the failures. Gangs carry no replica index:
 * they are deleted by label only if all gangs of the set are to go.
 */
export async function removeGangs(
  set: StoredSet,
  gangs: readonly Stored<PodGang>[],
  { caches, events: sink }: OperatorContext,
  signal: AbortSignal,
): Promise<unknown[]> {
  const { namespace, name, uid } = set.metadata
  const staying = gangs.filter(({ metadata }) => !metadata.deletionTimestamp)
  const labelSelector = selectorText(managedLabels(name))
  const all =
    staying.length === caches.gangs.countByIndex('controller', uid)
      ? removePlanned(
          caches.gangs,
          { namespace, labelSelector, planned: uidsOf(staying) },
          caches.client,
          signal,
        )
      : undefined
  await all?.catch(() => undefined)
  return runAll(
    staying.map(gang => async () => {
      const { metadata } = gang
      const id = `${namespace}/${metadata.name}`
      try {
        if (all) await all
        else {
          const [failure] = await removeByUid(resources.podGangs, [gang], caches.client, signal)
          if (failure) throw failure
        }
        sink.emit(set, eventSource.podCliqueSet, events.podGangDeleted(id))
      } catch (error) {
        sink.emit(set, eventSource.podCliqueSet, events.podGangDeleteFailed(id, textOf(error)))
        throw new CodedError('Sync', setErrorCode.deletePodGang, `Error deleting PodGang ${id}`, error)
      }
    }),
  )
}
