// SPDX-License-Identifier: Apache-2.0

// The intents that delete PodGangs of a set.
import { eventSource, events, label, managedLabels, type PodClique, selectorText } from '@grove/api'
import type { Intent } from '../apply/intent.ts'
import { uidsOf } from '../apply/planned-removal.ts'
import type { Caches } from '../caches/caches.ts'
import { resources } from '../caches/resources.ts'
import { gangErrors } from '../errors/catalogue.ts'
import { ReconcileFailed } from '../errors/coded-error.ts'
import { keyOf } from '../layout/object-key.ts'
import { isControlledBy } from '../layout/owner.ts'
import type { StoredGang, StoredSet } from '../layout/stored.ts'

/** The gangs of the set that these cliques belong to. */
export function gangsOf(
  { metadata: { namespace, uid } }: StoredSet,
  cliques: readonly PodClique[],
  caches: Pick<Caches, 'gangs'>,
): StoredGang[] {
  const names = new Set(cliques.map(({ metadata }) => metadata.labels?.[label.podGang] ?? ''))
  return [...names]
    .map(name => caches.gangs.get({ namespace, name }))
    .filter(gang => gang !== undefined)
    .filter(gang => isControlledBy(gang, uid))
}

/**
 * Deletes gangs that the set controls, unless they are terminating. Gangs carry no replica index: they are deleted by label
 * only if all gangs of the set are to be deleted.
 */
export function gangDeletions(
  set: StoredSet,
  gangs: readonly StoredGang[],
  { gangs: known }: Pick<Caches, 'gangs'>,
): Intent[] {
  const { namespace, name, uid } = set.metadata
  const staying = gangs.filter(({ metadata }) => !metadata.deletionTimestamp)
  const report = (reported: readonly StoredGang[]) => ({
    about: set,
    source: eventSource.podCliqueSet,
    done: () => reported.map(gang => events.podGangDeleted(keyOf(gang))),
    failed: (error: string) => reported.map(gang => events.podGangDeleteFailed(keyOf(gang), error)),
  })
  if (staying.length > 1 && staying.length === known.countByIndex('controller', uid))
    return [
      {
        kind: 'deleteCollection',
        known,
        namespace,
        labelSelector: selectorText(managedLabels(name)),
        planned: uidsOf(staying),
        error: cause => new ReconcileFailed(staying.map(gang => gangErrors.deleteGang(keyOf(gang))(cause))),
        report: report(staying),
      },
    ]
  return staying.map(gang => ({
    kind: 'delete',
    resource: resources.podGangs,
    object: gang,
    error: gangErrors.deleteGang(keyOf(gang)),
    report: report([gang]),
  }))
}
