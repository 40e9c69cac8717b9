// SPDX-License-Identifier: Apache-2.0

// Deletes a set. Owner references and the garbage collector guarantee that its children are deleted. Deleting them by
// label is an optimization: if those requests fail, the garbage collector still deletes the children.
import { finalizer, managedLabels, selectorText, setErrorCode } from '@grove/api'
import {
  isConflict,
  isKubeError,
  type KubeObject,
  type Logger,
  type ReconcileResult,
  type Resource,
  type Stored,
  wasNotProcessed,
} from '@grove/kube'
import { execute, executeOrThrow } from '../apply/execute.ts'
import type { Intent } from '../apply/intent.ts'
import { uidsOf } from '../apply/planned-removal.ts'
import type { Caches } from '../caches/caches.ts'
import { resources } from '../caches/resources.ts'
import { areDomainsInUse, releaseComputeDomains } from '../devices/compute-domains.ts'
import { lastErrorsOf, throwIfAny } from '../errors/coded-error.ts'
import { keyOf } from '../layout/object-key.ts'
import type { StoredSet } from '../layout/stored.ts'
import type { OperatorContext } from '../operator-context.ts'
import { isNamedByLabel } from '../ownership/adoption.ts'
import { ownChildren } from '../ownership/owner-lookup.ts'
import { timestamp } from '../state/conditions.ts'
import { domainsHeldMs } from '../timings/timings.ts'
import { statusWrite } from './plan.ts'
import { removeReplicaBatches } from './replica-batches.ts'

/** The API server adds it to an object that is deleted with --cascade=orphan. */
const orphanFinalizer = 'orphan'

export async function deleteSet(
  set: StoredSet,
  context: OperatorContext,
  log: Logger,
  signal: AbortSignal,
): Promise<ReconcileResult | undefined> {
  try {
    return await removeSet(set, context, log, signal)
  } catch (error) {
    // A retry resolves a conflict. The status reports other failures, because a user may have to act.
    if (!isConflict(error)) await reportFailure(set, error, context, signal)
    throw error
  }
}

async function removeSet(
  set: StoredSet,
  context: OperatorContext,
  log: Logger,
  signal: AbortSignal,
): Promise<ReconcileResult | undefined> {
  const { caches, clock, memory } = context
  // Uses the operator's clock, because the clock of the API server may differ by hours.
  const now = clock.monotonic()
  const terminatingMs = now - memory.terminatingSince.getOrAdd(set, () => now)
  const finalizers = set.metadata.finalizers ?? []
  if (!finalizers.includes(finalizer.podCliqueSet)) return undefined
  if (!(await leavesChildren(set, caches, signal))) await removeChildren(set, context, log, signal)
  if (terminatingMs < domainsHeldMs && areDomainsInUse(set, context))
    return { requeueAfter: domainsHeldMs - terminatingMs }
  // Only NVLink domains carry a finalizer that no other controller removes.
  await releaseComputeDomains(set, context, signal)
  const metadata = {
    resourceVersion: set.metadata.resourceVersion,
    finalizers: finalizers.filter(name => name !== finalizer.podCliqueSet),
  }
  const intent: Intent = {
    kind: 'patch',
    resource: resources.podCliqueSets,
    object: set,
    merge: { metadata },
  }
  await executeOrThrow([intent], context, signal)
  return undefined
}

/**
 * Reports whether the user deleted the set with --cascade=orphan. Before this reconcile, the garbage collector may have
 * removed the owner references of all children, and then the finalizer that shows the orphaning. The cache of the
 * children may be older than that of the set, so one child is read from the API server.
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
async function removeChildren(
  set: StoredSet,
  context: OperatorContext,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  const check = (failures: readonly unknown[]) => throwIfThrottled(set, failures, log)
  const { caches, memory } = context
  const { namespace, name, uid } = set.metadata
  const { groups, cliques } = ownChildren(set, caches)
  const removal = {
    namespace,
    labelSelector: selectorText(managedLabels(name)),
    planned: uidsOf([set]),
  }
  const services = caches.services.byIndex('controller', uid).filter(isStaying)
  const gangs: Intent = { kind: 'deleteCollection', known: caches.gangs, ...removal }
  check((await execute([gangs], context, { signal })).failures)
  const [{ batches, serviceFailures }, others] = await Promise.all([
    removeReplicaBatches(set, { groups, cliques, services }, context, signal),
    execute(individually(set, caches), context, { signal }),
  ])
  check([...batches.flatMap(({ failure }) => failure ?? []), ...serviceFailures, ...others.failures])
  const left = new Set(memory.removals.podsLeft(set))
  const pods: Intent = {
    kind: 'deleteCollection',
    known: caches.pods,
    ...removal,
    planned: left,
    podsOf: set,
  }
  check((await execute([pods], context, { signal })).failures)
}

/**
 * Retries throttled deletes, because the garbage collector is slower. Leaves other failures to the garbage collector
 * and logs them.
 */
function throwIfThrottled(set: StoredSet, failures: readonly unknown[], log: Logger): void {
  const isThrottled = (failure: unknown) => isKubeError(failure) && wasNotProcessed(failure)
  for (const error of failures.filter(failure => !isThrottled(failure)))
    log.warn('Deleting children of a PodCliqueSet failed; the garbage collector deletes them', {
      namespace: set.metadata.namespace,
      set: set.metadata.name,
      error,
    })
  throwIfAny(failures.filter(isThrottled))
}

function isStaying({ metadata }: KubeObject): boolean {
  return metadata?.deletionTimestamp === undefined
}

/**
 * Kinds of which users have objects, too: never deleted by label. The cluster deletes the token Secret together with
 * its ServiceAccount.
 */
function individually({ metadata: { uid } }: StoredSet, caches: Caches): Intent[] {
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
      .map((object): Intent => ({ kind: 'delete', resource: cache.resource, object })),
  )
}

type ByController = (index: 'controller', uid: string) => readonly Stored<KubeObject>[]

/** Reports in the status why a set cannot be deleted. */
async function reportFailure(
  set: StoredSet,
  failure: unknown,
  context: OperatorContext,
  signal: AbortSignal,
): Promise<void> {
  const lastErrors = lastErrorsOf(
    failure,
    setErrorCode.updateStatus,
    timestamp(context.clock),
    set.status?.lastErrors,
  )
  const intent = statusWrite(set, { ...set.status, lastErrors })
  await executeOrThrow([intent], context, signal)
}
