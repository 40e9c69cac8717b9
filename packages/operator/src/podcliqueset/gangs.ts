// SPDX-License-Identifier: Apache-2.0

// Which gangs a set has. What is in them is the business of their own controller.
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
import { isControlledBy } from '../child-objects.ts'
import { CodedError, PassFailed, textOf } from '../coded-error.ts'
import { checkMembers, eachPodGang, type GroupReplicas, type PodGangReference } from '../layout.ts'
import { groupLimitExceeded, replicasWithMembers } from '../limits.ts'
import type { OperatorContext } from '../operator-context.ts'
import { removeByUid, removePlanned, uidsOf } from '../planned-removal.ts'
import { isInitialized } from '../podclique/gates.ts'
import { type GangKey, gangKeyOf, wantedGangKey } from '../podgang/key.ts'
import { resources } from '../resources.ts'
import type { StoredSet } from '../stored.ts'
import type { World } from '../world.ts'
import { runAll } from '../writes.ts'

/** Missing gangs that one reconcile hands over. Their cliques hand them over as well, as soon as they exist. */
const mostHandedOver = 10_000

/** Gangs that are too many go, those that are missing are made; `all` that exist are looked at where the set has changed. */
export async function syncGangs(
  set: StoredSet,
  all: boolean,
  context: OperatorContext,
  enqueueGang: (key: GangKey) => void,
  signal: AbortSignal,
): Promise<void> {
  const { world } = context
  checkMembers(set)
  const groupReplicas = groupReplicasOf(set, context)
  const excess: Stored<PodGang>[] = []
  for (const gang of world.gangs.byIndex('controller', set.metadata.uid)) {
    const key = wantedGangKey(set, gang.metadata.name, groupReplicas)
    if (key && all) enqueueGang(key)
    if (!key) excess.push(gang)
  }
  const failures = await removeGangs(set, excess, context, signal)
  const missing = Iterator.from(eachPodGang(set, groupReplicas)).filter(gang => !gangOf(set, gang, world))
  for (const gang of missing.take(mostHandedOver)) enqueueGang(gangKeyOf(set, gang))
  if (failures.length) throw new PassFailed(failures)
}

/** The gangs of the set that these cliques belong to. */
export function gangsOf(
  { metadata: { namespace, uid } }: StoredSet,
  cliques: readonly PodClique[],
  world: World,
): Stored<PodGang>[] {
  const names = new Set(cliques.map(({ metadata }) => metadata.labels?.[label.podGang] ?? ''))
  return [...names]
    .map(name => world.gangs.get({ namespace, name }))
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
  { world, events: sink }: OperatorContext,
  signal: AbortSignal,
): Promise<unknown[]> {
  const { namespace, name, uid } = set.metadata
  const staying = gangs.filter(({ metadata }) => !metadata.deletionTimestamp)
  const labelSelector = selectorText(managedLabels(name))
  const all =
    staying.length === world.gangs.countByIndex('controller', uid)
      ? removePlanned(
          world.gangs,
          { namespace, labelSelector, planned: uidsOf(staying) },
          world.client,
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
          const [failure] = await removeByUid(resources.podGangs, [gang], world.client, signal)
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

/** Whether every gang of a set has all of its pods, scheduled or not. */
export function areGangsComplete(set: StoredSet, context: OperatorContext): boolean {
  return Iterator.from(eachPodGang(set, groupReplicasOf(set, context))).every(instance => {
    const gang = gangOf(set, instance, context.world)
    return gang !== undefined && isInitialized(gang)
  })
}

function gangOf({ metadata }: StoredSet, { name }: PodGangReference, world: World): PodGang | undefined {
  const gang = world.gangs.get({ namespace: metadata.namespace, name })
  return gang && isControlledBy(gang, metadata.uid) ? gang : undefined
}

/** How many replicas of a group have gangs. Of a group above its limit those that have members: no further ones are made. */
function groupReplicasOf(set: StoredSet, { world, configuration }: OperatorContext): GroupReplicas {
  const { namespace, uid } = set.metadata
  return group => {
    const live = world.groups.get({ namespace, name: group.name })
    if (!live || !isControlledBy(live, uid)) return group.config.replicas ?? 1
    if (!groupLimitExceeded(set, group, live.spec.replicas, configuration)) return live.spec.replicas
    return replicasWithMembers(world.cliques.byIndex('controller', live.metadata.uid), configuration.limits)
  }
}
