// SPDX-License-Identifier: Apache-2.0

// Which gangs a set has. What is in them is the business of their own controller.
import { eventSource, events, type PodGang, setErrorCode } from '@grove/api'
import { isNotFound } from '@grove/kube'
import { isControlledBy } from '../child-objects.ts'
import { CodedError, PassFailed, textOf } from '../coded-error.ts'
import { type PodGangInstance, podGangs } from '../layout.ts'
import type { OperatorContext } from '../operator-context.ts'
import { isInitialized } from '../podclique/gates.ts'
import { type GangKey, gangKeyOf } from '../podgang/key.ts'
import { resources } from '../resources.ts'
import type { StoredSet } from '../stored.ts'
import type { World } from '../world.ts'
import { runAll } from '../writes.ts'

/** Gangs that are too many go, those that are missing are made; `all` are looked at where the set has changed. */
export async function syncGangs(
  set: StoredSet,
  all: boolean,
  { world, events: sink }: OperatorContext,
  enqueueGang: (key: GangKey) => void,
  signal: AbortSignal,
): Promise<void> {
  const { namespace } = set.metadata
  const wanted = wantedGangs(set, world)
  const names = new Set(wanted.map(gang => gang.name))
  const excess = world.gangs
    .byIndex('controller', set.metadata.uid)
    .filter(gang => !names.has(gang.metadata.name) && !gang.metadata.deletionTimestamp)
  const failures = await runAll(
    excess.map(({ metadata }) => async () => {
      const id = `${namespace}/${metadata.name}`
      try {
        await world.client.delete(
          resources.podGangs,
          { namespace, name: metadata.name },
          { signal, preconditions: { uid: metadata.uid } },
        )
        sink.emit(set, eventSource.podCliqueSet, events.podGangDeleted(id))
      } catch (error) {
        if (isNotFound(error)) return
        sink.emit(set, eventSource.podCliqueSet, events.podGangDeleteFailed(id, textOf(error)))
        throw new CodedError('Sync', setErrorCode.deletePodGang, `Error deleting PodGang ${id}`, error)
      }
    }),
  )
  for (const gang of wanted) if (all || !gangOf(set, gang, world)) enqueueGang(gangKeyOf(set, gang))
  if (failures.length) throw new PassFailed(failures)
}

/** Whether every gang of a set has all of its pods, scheduled or not. */
export function areGangsComplete(set: StoredSet, { world }: OperatorContext): boolean {
  return wantedGangs(set, world).every(instance => {
    const gang = gangOf(set, instance, world)
    return gang !== undefined && isInitialized(gang)
  })
}

function gangOf({ metadata }: StoredSet, { name }: PodGangInstance, world: World): PodGang | undefined {
  const gang = world.gangs.get({ namespace: metadata.namespace, name })
  return gang && isControlledBy(gang, metadata.uid) ? gang : undefined
}

function wantedGangs(set: StoredSet, world: World): PodGangInstance[] {
  const { namespace, uid } = set.metadata
  return podGangs(set, group => {
    const live = world.groups.get({ namespace, name: group.name })
    return live && isControlledBy(live, uid) ? live.spec.replicas : (group.config.replicas ?? 1)
  })
}
