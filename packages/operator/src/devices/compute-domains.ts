// SPDX-License-Identifier: Apache-2.0

// The NVLink domains of a set. Deleting one shuts the fabric down under whoever uses it, so a domain is
// released only when the pods of its replica are gone, or claim no place in it any more.
import {
  eventSource,
  events,
  finalizer,
  kinds,
  label,
  names,
  type OwnerReference,
  type PodSpec,
  setErrorCode,
} from '@grove/api'
import {
  type Client,
  isAlreadyExists,
  isNotFound,
  type KubeObject,
  type Resource,
  type Stored,
} from '@grove/kube'
import type { MergePatch } from '../apply/intent.ts'
import { firstBatch, mostCreated, type Progress, patchObject, runAll, runSlowStart } from '../apply/writes.ts'
import { resources } from '../caches/resources.ts'
import { CodedError, ReconcileFailed, textOf } from '../errors/coded-error.ts'
import { eachReplica } from '../layout/layout.ts'
import { mnnvlGroups } from '../layout/mnnvl.ts'
import { isControlledBy } from '../layout/owner.ts'
import type { StoredSet } from '../layout/stored.ts'
import { type ComputeDomain, computeDomain } from '../objects/compute-domain.ts'
import type { WantedChild } from '../objects/wanted-child.ts'
import type { OperatorContext } from '../operator-context.ts'
import { planChildren } from '../ownership/child-objects.ts'

export async function syncComputeDomains(
  set: StoredSet,
  context: OperatorContext,
  signal: AbortSignal,
): Promise<Progress> {
  const { caches } = context
  if (!caches.computeDomains) return 'complete'
  const groups = mnnvlGroups(set)
  const existing = caches.computeDomains.byIndex('controller', set.metadata.uid)
  if (groups.length === 0 && existing.length === 0) return 'complete'
  const plan = planChildren<ComputeDomain>({
    wanted: wantedDomains(set, groups),
    existing,
    ownerUid: set.metadata.uid,
    prune: true,
    patch: whatIsMissing,
  })
  const created = await runSlowStart(
    plan.create.map(domain => () => createDomain(set, domain, context, signal)),
    { tolerated: firstBatch },
  )
  const changed = await runAll([
    ...plan.patch.map(
      ({ object, patch }) =>
        () =>
          patchObject(caches, resources.computeDomains, object, { merge: patch }, { signal }),
    ),
    ...plan.leaving.map(domain => () => recreateDomain(set, domain, context, signal)),
    ...[...plan.remove, ...goingUnwanted(existing, plan.leaving)]
      .filter(domain => !isInUse(set, domain, context))
      .map(domain => () => releaseDomain(set, domain, context, signal)),
  ])
  const failures = [...created.failures, ...changed]
  if (failures.length) throw new ReconcileFailed(failures)
  return plan.create.length < mostCreated ? 'complete' : 'more'
}

function* wantedDomains(set: StoredSet, groups: readonly string[]): Generator<WantedChild<ComputeDomain>> {
  for (const replica of eachReplica(set))
    for (const group of groups)
      yield {
        name: names.computeDomain(set.metadata.name, replica, group),
        build: () => computeDomain(set, replica, group),
      }
}

/** The domains of a set that is being deleted go. */
export async function releaseComputeDomains(
  set: StoredSet,
  context: OperatorContext,
  signal: AbortSignal,
): Promise<void> {
  const failures = await runAll(
    domainsOf(set, context).map(domain => () => releaseDomain(set, domain, context, signal)),
  )
  if (failures.length) throw new ReconcileFailed(failures)
}

/** Whether a domain of the set still has pods on it. */
export function areDomainsInUse(set: StoredSet, context: OperatorContext): boolean {
  return domainsOf(set, context).some(domain => isInUse(set, domain, context))
}

function domainsOf(set: StoredSet, { caches }: OperatorContext): Stored<ComputeDomain>[] {
  return caches.computeDomains?.byIndex('controller', set.metadata.uid) ?? []
}

async function createDomain(
  set: StoredSet,
  domain: ComputeDomain,
  { caches, events: sink }: OperatorContext,
  signal: AbortSignal,
): Promise<void> {
  const id = `${set.metadata.namespace}/${domain.metadata.name}`
  try {
    await caches.client.create(resources.computeDomains, domain, { signal })
    sink.emit(set, eventSource.podCliqueSet, events.computeDomainCreated(id))
  } catch (error) {
    const { uid } = set.metadata
    if (
      isAlreadyExists(error) &&
      (await hasArrived(caches.client, resources.computeDomains, domain, uid, signal))
    )
      return
    sink.emit(set, eventSource.podCliqueSet, events.computeDomainCreateFailed(id, textOf(error)))
    throw new CodedError('Sync', setErrorCode.syncComputeDomain, `Error creating ComputeDomain ${id}`, error)
  }
}

/**
 * Somebody deleted a domain that is needed. Our finalizer holds it until no pod is on it; then it is made
 * anew.
 */
async function recreateDomain(
  set: StoredSet,
  domain: Stored<ComputeDomain>,
  context: OperatorContext,
  signal: AbortSignal,
): Promise<void> {
  const { name } = domain.metadata
  if (isInUse(set, domain, context)) {
    context.events.emit(set, eventSource.podCliqueSet, events.computeDomainHeld(name))
    return
  }
  await releaseDomain(set, domain, context, signal)
  throw new CodedError(
    'Sync',
    setErrorCode.syncComputeDomain,
    `ComputeDomain ${set.metadata.namespace}/${name} is still being deleted`,
  )
}

async function releaseDomain(
  set: StoredSet,
  domain: Stored<ComputeDomain>,
  { caches, events: sink }: OperatorContext,
  signal: AbortSignal,
): Promise<void> {
  const { name, uid, resourceVersion, deletionTimestamp, finalizers = [] } = domain.metadata
  const others = finalizers.filter(one => one !== finalizer.computeDomain)
  try {
    if (others.length < finalizers.length)
      await patchObject(
        caches,
        resources.computeDomains,
        domain,
        // The list replaces the stored one: with the version, a finalizer that the driver adds meanwhile is a conflict.
        { merge: { metadata: { resourceVersion, finalizers: others } } },
        { signal },
      )
    if (!deletionTimestamp)
      await caches.client.delete(resources.computeDomains, refOf(domain), { signal, preconditions: { uid } })
    sink.emit(set, eventSource.podCliqueSet, events.computeDomainDeleted(name))
  } catch (error) {
    if (isNotFound(error)) return
    sink.emit(set, eventSource.podCliqueSet, events.computeDomainDeleteFailed(name, textOf(error)))
    throw new CodedError(
      'Delete',
      setErrorCode.deleteComputeDomain,
      `Error releasing ComputeDomain ${name}`,
      error,
    )
  }
}

/** Domains that nobody needs, deleted by somebody, and held by nothing but us. */
function goingUnwanted(
  existing: readonly Stored<ComputeDomain>[],
  leaving: readonly Stored<ComputeDomain>[],
): Stored<ComputeDomain>[] {
  return existing.filter(
    domain =>
      domain.metadata.deletionTimestamp &&
      !leaving.includes(domain) &&
      domain.metadata.finalizers?.includes(finalizer.computeDomain),
  )
}

/**
 * Our labels and our finalizer are put back; labels and finalizers of others stay, and the spec is left
 * alone.
 */
function whatIsMissing(existing: Stored<ComputeDomain>, wanted: ComputeDomain): MergePatch | undefined {
  const { labels, finalizers = [], resourceVersion } = existing.metadata
  const missing = Object.entries(wanted.metadata.labels ?? {}).filter(
    ([key, value]) => labels?.[key] !== value,
  )
  const isHeld = finalizers.includes(finalizer.computeDomain)
  if (missing.length === 0 && isHeld) return undefined
  return {
    metadata: {
      resourceVersion,
      ...(missing.length && { labels: Object.fromEntries(missing) }),
      ...(!isHeld && { finalizers: [...finalizers, finalizer.computeDomain] }),
    },
  }
}

/**
 * By pods of its replica, terminating ones included: they use the fabric until they are gone. Where the
 * replica stays, those that claim no place in the domain do not count; nor do pods of users that only carry the labels.
 */
function isInUse(
  { metadata: { name, namespace, deletionTimestamp }, spec: { replicas = 0 } }: StoredSet,
  domain: Stored<ComputeDomain>,
  { caches }: OperatorContext,
): boolean {
  const index = domain.metadata.labels?.[label.setReplicaIndex]
  const stays = !deletionTimestamp && Number(index) < replicas
  return caches.pods
    .list(namespace)
    .some(
      ({ metadata: { labels, ownerReferences = [] }, spec }) =>
        labels?.[label.partOf] === name &&
        labels[label.setReplicaIndex] === index &&
        ((!stays && ownerReferences.some(isClique)) || claimsPlaceIn(domain, spec)),
    )
}

/** By kind, not by UID: cliques are deleted before their pods. */
function isClique({ kind, controller }: OwnerReference): boolean {
  return controller === true && kind === kinds.podClique.kind
}

function claimsPlaceIn({ metadata }: ComputeDomain, spec: PodSpec | undefined): boolean {
  const claims = spec?.resourceClaims ?? []
  return claims.some(claim => claim.resourceClaimTemplateName === metadata.name)
}

function refOf({ metadata }: Stored<ComputeDomain>) {
  return { name: metadata.name, namespace: metadata.namespace ?? '' }
}

/** After "already exists": whether what is there is ours and only the watch has not shown it yet. */
export async function hasArrived<T extends KubeObject>(
  client: Pick<Client, 'find'>,
  resource: Resource<T>,
  object: T,
  ownerUid: string,
  signal: AbortSignal,
): Promise<boolean> {
  const { name = '', namespace = '' } = object.metadata ?? {}
  const found = await client.find(resource, { name, namespace }, { signal })
  return found !== undefined && isControlledBy(found, ownerUid) && !found.metadata.deletionTimestamp
}
