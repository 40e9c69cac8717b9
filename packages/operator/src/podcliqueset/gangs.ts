// SPDX-License-Identifier: Apache-2.0

// Ensures the gangs of a set. The gang controller decides which pods they list.
import type { PodGang } from '@grove/api'
import { execute } from '../apply/execute.ts'
import type { Caches } from '../caches/caches.ts'
import { ReconcileFailed } from '../errors/coded-error.ts'
import { type GangKey, gangKeyOf, wantedGangKey } from '../layout/gang-key.ts'
import { checkMembers, eachPodGang, type GroupReplicas, type PodGangReference } from '../layout/layout.ts'
import { groupLimitExceeded, replicasWithMembers } from '../layout/limits.ts'
import { isControlledBy } from '../layout/owner.ts'
import type { StoredGang, StoredSet } from '../layout/stored.ts'
import type { OperatorContext } from '../operator-context.ts'
import { gangDeletions } from '../podgang/removal.ts'
import { isInitialized } from '../state/child-state.ts'

/** The most missing gangs that one reconcile enqueues. Their cliques enqueue them as well, as soon as they exist. */
const mostEnqueued = 10_000

/**
 * Deletes surplus gangs and creates missing ones. Compares `all` existing gangs if the set has changed. Gangs of replicas from
 * `below` on are not missed: their cliques are created later, and a gang without pods would be written twice.
 */
export async function syncGangs(
  set: StoredSet,
  { all, below }: { readonly all: boolean; readonly below: number },
  context: OperatorContext,
  enqueueGang: (key: GangKey) => void,
  signal: AbortSignal,
): Promise<void> {
  const { caches } = context
  checkMembers(set)
  const groupReplicas = groupReplicasOf(set, context)
  const excess: StoredGang[] = []
  for (const gang of caches.gangs.byIndex('controller', set.metadata.uid)) {
    const key = wantedGangKey(set, gang.metadata.name, groupReplicas)
    if (key && all) enqueueGang(key)
    if (!key) excess.push(gang)
  }
  const failures = (await execute(gangDeletions(set, excess, caches), context, { signal })).failures
  const missing = Iterator.from(eachPodGang(set, groupReplicas)).filter(
    gang => gang.setReplica < below && !gangOf(set, gang, caches),
  )
  for (const gang of missing.take(mostEnqueued)) enqueueGang(gangKeyOf(set, gang))
  if (failures.length) throw new ReconcileFailed(failures)
}

/** Reports whether every gang of a set has all of its pods, scheduled or not. */
export function areGangsComplete(set: StoredSet, context: OperatorContext): boolean {
  return Iterator.from(eachPodGang(set, groupReplicasOf(set, context))).every(instance => {
    const gang = gangOf(set, instance, context.caches)
    return gang !== undefined && isInitialized(gang)
  })
}

/** The existing gangs of a set, in the order of its replicas. */
export function existingGangs(set: StoredSet, context: OperatorContext): readonly PodGang[] {
  return Iterator.from(eachPodGang(set, groupReplicasOf(set, context)))
    .map(instance => gangOf(set, instance, context.caches))
    .filter(gang => gang !== undefined)
    .toArray()
}

function gangOf({ metadata }: StoredSet, { name }: PodGangReference, caches: Caches): PodGang | undefined {
  const gang = caches.gangs.get({ namespace: metadata.namespace, name })
  return gang && isControlledBy(gang, metadata.uid) ? gang : undefined
}

/**
 * Returns the number of replicas of a group that have gangs. A group above its limit has gangs only for replicas with
 * members, because the operator creates no further members.
 */
function groupReplicasOf(set: StoredSet, { caches, configuration }: OperatorContext): GroupReplicas {
  const { namespace, uid } = set.metadata
  return group => {
    const live = caches.groups.get({ namespace, name: group.name })
    if (!live || !isControlledBy(live, uid)) return group.config.replicas ?? 1
    if (!groupLimitExceeded(set, group, live.spec.replicas, configuration)) return live.spec.replicas
    return replicasWithMembers(caches.cliques.byIndex('controller', live.metadata.uid), configuration.limits)
  }
}
