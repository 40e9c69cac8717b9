// SPDX-License-Identifier: Apache-2.0

// A set goes away. Owner references and the garbage collector are what is relied on; removing by label what is many
// makes it fast. If those requests fail the collector still finishes the job.
import { finalizer, managedLabels, type PodCliqueSet, selectorText, setErrorCode } from '@grove/api'
import {
  type Clock,
  isKubeError,
  isNotFound,
  type KubeObject,
  type ReconcileResult,
  type Resource,
  type Stored,
  wasTurnedAway,
} from '@grove/kube'
import { lastErrorsOf, together } from '../coded-error.ts'
import { keyOf } from '../object-key.ts'
import { type OperatorContext, timestamp } from '../operator-context.ts'
import { removePlanned, uidsOf } from '../planned-removal.ts'
import { resources } from '../resources.ts'
import { writeStatus } from '../status-write.ts'
import type { StoredSet } from '../stored.ts'
import type { World } from '../world.ts'
import { runAll } from '../writes.ts'
import { areDomainsInUse, releaseComputeDomains } from './compute-domains.ts'

/** What the API server puts on an object whose dependents are to stay. */
const orphanFinalizer = 'orphan'

/** So long NVLink domains are kept for pods that do not end; twice the usual grace of a pod. */
export const domainsHeldMs = 60_000

/** How long sets have been going, by our own clock: that of the API server may be hours away from it. */
export class GoingSets {
  /** UID → when it was first seen to go; monotonic. */
  readonly #since = new Map<string, number>()
  readonly #clock: Clock

  constructor({ world, clock }: Pick<OperatorContext, 'world' | 'clock'>) {
    this.#clock = clock
    world.sets.onChange(change => {
      if (change.type === 'delete') this.#since.delete(change.old.metadata.uid)
    })
  }

  goingMs({ metadata: { uid } }: StoredSet): number {
    const now = this.#clock.monotonic()
    const since = this.#since.get(uid) ?? now
    this.#since.set(uid, since)
    return now - since
  }
}

export async function deleteSet(
  set: StoredSet,
  goingMs: number,
  context: OperatorContext,
  signal: AbortSignal,
): Promise<ReconcileResult | undefined> {
  const { world } = context
  const finalizers = set.metadata.finalizers ?? []
  if (!finalizers.includes(finalizer.podCliqueSet)) return undefined
  if (!leavesChildren(set, world)) await removeChildren(set, world, signal)
  if (goingMs < domainsHeldMs && areDomainsInUse(set, context))
    return { requeueAfter: domainsHeldMs - goingMs }
  // These alone carry a finalizer that nobody else would take away.
  await releaseComputeDomains(set, context, signal)
  try {
    await world.client.patch(
      resources.podCliqueSets,
      { name: set.metadata.name, namespace: set.metadata.namespace },
      {
        merge: {
          metadata: {
            resourceVersion: set.metadata.resourceVersion,
            finalizers: finalizers.filter(name => name !== finalizer.podCliqueSet),
          },
        },
      },
      { signal },
    )
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
  return undefined
}

/** Whether who deletes the set wants its children to stay. The collector may have let them go before we look. */
function leavesChildren(set: StoredSet, world: World): boolean {
  if (set.metadata.finalizers?.includes(orphanFinalizer)) return true
  const children = [...world.cliques.byIndex('set', keyOf(set)), ...world.groups.byIndex('set', keyOf(set))]
  return children.some(({ metadata }) => !metadata.ownerReferences?.some(owner => owner.controller))
}

/** Only where something is left that is not on its way out: while NVLink domains are in use this is come by often. */
async function removeChildren(set: StoredSet, world: World, signal: AbortSignal): Promise<void> {
  const { namespace, name, uid } = set.metadata
  const cliques = world.cliques.byIndex('set', keyOf(set))
  const groups = world.groups.byIndex('set', keyOf(set))
  const planned = uidsOf([set, ...groups, ...cliques])
  const removal = { namespace, labelSelector: selectorText(managedLabels(name)), planned }
  const remove = async (resource: Resource<KubeObject>, known: readonly KubeObject[]) => {
    if (known.some(isStaying)) await removePlanned(resource, removal, world, signal)
  }
  const failures = await runAll([
    // Children first: what is on its way out already is no work for the collector, which would look at every single one.
    async () => {
      if (cliques.some(clique => world.podsOf(clique).some(isStaying)))
        await removePlanned(resources.pods, removal, world, signal)
      await remove(resources.podCliques, cliques)
      await remove(resources.podCliqueScalingGroups, groups)
    },
    () => remove(resources.podGangs, world.gangs.byIndex('controller', uid)),
    () => remove(resources.services, world.services.byIndex('controller', uid)),
    () => remove(resources.autoscalers, world.autoscalers.byIndex('controller', uid)),
    ...identityOf(set, world).map(([resource, { metadata }]) => async () => {
      const ref = { name: metadata.name, namespace }
      await world.client.delete(resource, ref, { signal, preconditions: { uid: metadata.uid } })
    }),
  ])
  // Who is turned away by a busy server comes again: the collector would take far longer. Other failures are its work.
  const turnedAway = failures.filter(failure => isKubeError(failure) && wasTurnedAway(failure))
  if (turnedAway.length) throw together(...turnedAway)
}

function isStaying({ metadata }: KubeObject): boolean {
  return metadata?.deletionTimestamp === undefined
}

/** Few, but the garbage collector would come to them last. The token's Secret goes with its account. */
function identityOf(set: StoredSet, world: World): [Resource<KubeObject>, Stored<KubeObject>][] {
  const { uid } = set.metadata
  const of = (resource: Resource<KubeObject>, objects: readonly Stored<KubeObject>[]) =>
    objects.map((object): [Resource<KubeObject>, Stored<KubeObject>] => [resource, object])
  return [
    ...of(resources.serviceAccounts, world.serviceAccounts.byIndex('controller', uid)),
    ...of(resources.roleBindings, world.roleBindings.byIndex('controller', uid)),
    ...of(resources.roles, world.roles.byIndex('controller', uid)),
  ]
}

/** What keeps a set from going stands in its status, as everything else that keeps it from being as wanted. */
export async function tellFailedDeletion(
  set: StoredSet,
  failure: unknown,
  { world, clock }: OperatorContext,
  signal: AbortSignal,
): Promise<void> {
  const lastErrors = lastErrorsOf(failure, setErrorCode.updateStatus, timestamp(clock))
  const status = { ...set.status, lastErrors }
  await writeStatus(world, resources.podCliqueSets, set as Stored<PodCliqueSet>, status, { signal })
}
