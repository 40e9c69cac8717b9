// SPDX-License-Identifier: Apache-2.0

// Deletes a set. Owner references and the garbage collector guarantee that its children are deleted; deleting them by
// label makes it fast. If those requests fail, the garbage collector still does the work.
import { finalizer, managedLabels, selectorText, setErrorCode } from '@grove/api'
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
import { removeByUid, removePlanned, removePodsOf, uidsOf } from '../apply/planned-removal.ts'
import { writeStatus } from '../apply/status-write.ts'
import { patchObject, runAll } from '../apply/writes.ts'
import type { Caches } from '../caches/caches.ts'
import { resources } from '../caches/resources.ts'
import { areDomainsInUse, releaseComputeDomains } from '../devices/compute-domains.ts'
import { lastErrorsOf, together } from '../errors/coded-error.ts'
import { keyOf } from '../layout/object-key.ts'
import type { StoredSet } from '../layout/stored.ts'
import type { OperatorContext } from '../operator-context.ts'
import { isNamedByLabel } from '../ownership/adoption.ts'
import { ownChildren } from '../ownership/owner-lookup.ts'
import { timestamp } from '../state/conditions.ts'
import { removeReplicaBatches } from './replica-batches.ts'

/** What the API server puts on an object whose dependents are to stay. */
const orphanFinalizer = 'orphan'

/** So long NVLink domains are kept for pods that do not end; twice the usual grace of a pod. */
export const domainsHeldMs = 60_000

/** How long sets have been going, by our own clock: that of the API server may be hours away from it. */
export class TerminatingSets {
  /** UID → when it was first seen to go; monotonic. */
  readonly #since = new Map<string, number>()
  readonly #clock: Clock

  constructor({ caches, clock, removals }: Pick<OperatorContext, 'caches' | 'clock' | 'removals'>) {
    this.#clock = clock
    caches.sets.onChange(change => {
      if (change.type !== 'delete') return
      this.#since.delete(change.old.metadata.uid)
      removals.forget(change.old.metadata.uid)
    })
  }

  terminatingMs({ metadata: { uid } }: StoredSet): number {
    const now = this.#clock.monotonic()
    const since = this.#since.get(uid) ?? now
    this.#since.set(uid, since)
    return now - since
  }
}

export async function deleteSet(
  set: StoredSet,
  terminatingMs: number,
  context: OperatorContext,
  signal: AbortSignal,
): Promise<ReconcileResult | undefined> {
  const { caches } = context
  const finalizers = set.metadata.finalizers ?? []
  if (!finalizers.includes(finalizer.podCliqueSet)) return undefined
  if (!(await leavesChildren(set, caches, signal))) await removeChildren(set, context, signal)
  if (terminatingMs < domainsHeldMs && areDomainsInUse(set, context))
    return { requeueAfter: domainsHeldMs - terminatingMs }
  // These alone carry a finalizer that nobody else would take away.
  await releaseComputeDomains(set, context, signal)
  try {
    await patchObject(
      caches,
      resources.podCliqueSets,
      set,
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

/**
 * Reports whether the user deleted the set with --cascade=orphan. The garbage collector may have removed the owner
 * references of all children, and then the finalizer that says so, before this reconcile. The cache of the children may be
 * older than that of the set, so the API server is asked for one of them.
 */
async function leavesChildren(set: StoredSet, caches: Caches, signal: AbortSignal): Promise<boolean> {
  const { namespace, uid, finalizers } = set.metadata
  if (finalizers?.includes(orphanFinalizer)) return true
  const hasOwner = ({ metadata }: KubeObject) => metadata?.ownerReferences?.some(owner => owner.controller)
  const labelled = [...caches.cliques.byIndex('set', keyOf(set)), ...caches.groups.byIndex('set', keyOf(set))]
  if (labelled.some(child => isNamedByLabel(child) && !hasOwner(child))) return true
  for (const cache of [caches.cliques, caches.groups] as const) {
    const child = cache.byIndex('controller', uid).find(isStaying)
    if (!child) continue
    const resource: Resource<KubeObject> = cache.resource
    const now = await caches.client.find(resource, { namespace, name: child.metadata.name }, { signal })
    return now?.metadata.uid === child.metadata.uid && !hasOwner(now)
  }
  return false
}

/**
 * Parents are deleted before pods: when the last pod is gone, no clique, group, gang or Service is left. Skips kinds whose
 * objects are all terminating already: this runs on every retry while ComputeDomains are in use.
 */
async function removeChildren(set: StoredSet, context: OperatorContext, signal: AbortSignal): Promise<void> {
  const { caches, removals } = context
  const { namespace, name, uid } = set.metadata
  const { groups, cliques } = ownChildren(set, caches)
  const removal = {
    namespace,
    labelSelector: selectorText(managedLabels(name)),
    planned: uidsOf([set]),
  }
  const services = caches.services.byIndex('controller', uid).filter(isStaying)
  throwIfThrottled(await runAll([() => removePlanned(caches.gangs, removal, caches.client, signal)]))
  const [{ batches, serviceFailures }, others] = await Promise.all([
    removeReplicaBatches(set, { groups, cliques, services }, context, signal),
    runAll(
      individually(set, caches).map(([resource, object]) => async () => {
        const [failure] = await removeByUid(resource, [object], caches.client, signal)
        if (failure) throw failure
      }),
    ),
  ])
  throwIfThrottled([...batches.map(({ failure }) => failure), ...serviceFailures, ...others])
  const left = new Set(removals.podsLeft(set))
  throwIfThrottled(await runAll([() => removePodsOf(set, left, removal, context, signal)]))
}

/** Throttled deletes are retried, because the garbage collector is slower. Other failures are left to it. */
function throwIfThrottled(failures: readonly unknown[]): void {
  const throttled = failures.filter(failure => isKubeError(failure) && wasTurnedAway(failure))
  if (throttled.length) throw together(...throttled)
}

function isStaying({ metadata }: KubeObject): boolean {
  return metadata?.deletionTimestamp === undefined
}

/**
 * Kinds that users have objects of, too: never deleted by label. The Secret with the token is deleted by the cluster
 * together with its ServiceAccount.
 */
function individually(
  { metadata: { uid } }: StoredSet,
  caches: Caches,
): [Resource<KubeObject>, Stored<KubeObject>][] {
  const kinds: readonly { resource: Resource<KubeObject>; byIndex: ByController }[] = [
    caches.autoscalers,
    caches.serviceAccounts,
    caches.roleBindings,
    caches.roles,
    ...(caches.controllerRevisions ? [caches.controllerRevisions] : []),
  ]
  return kinds.flatMap(cache =>
    cache
      .byIndex('controller', uid)
      .filter(isStaying)
      .map((object): [Resource<KubeObject>, Stored<KubeObject>] => [cache.resource, object]),
  )
}

type ByController = (index: 'controller', uid: string) => readonly Stored<KubeObject>[]

/** What keeps a set from going stands in its status, as everything else that keeps it from being as wanted. */
export async function reportFailedDeletion(
  set: StoredSet,
  failure: unknown,
  { caches, clock }: OperatorContext,
  signal: AbortSignal,
): Promise<void> {
  const lastErrors = lastErrorsOf(
    failure,
    setErrorCode.updateStatus,
    timestamp(clock),
    set.status?.lastErrors,
  )
  const status = { ...set.status, lastErrors }
  await writeStatus(caches, resources.podCliqueSets, set, status, { signal })
}
