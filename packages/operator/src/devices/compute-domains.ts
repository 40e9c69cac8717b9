// SPDX-License-Identifier: Apache-2.0

// The ComputeDomains (NVLink) of a set. Deleting a domain shuts down the fabric under the pods that use it. The
// operator therefore releases a domain only when the pods of its replica are gone or no longer claim it.
import { eventSource, events, finalizer, kinds, names, type OwnerReference, type PodSpec } from '@grove/api'
import type { Stored } from '@grove/kube'
import { execute, executeEach, nothingDone, type Outcome } from '../apply/execute.ts'
import type { Create, Intent, MergePatch } from '../apply/intent.ts'
import { firstBatch } from '../apply/writes.ts'
import { setReplicaKey } from '../caches/replica-index.ts'
import { resources } from '../caches/resources.ts'
import { setErrors } from '../errors/catalogue.ts'
import { throwIfAny } from '../errors/coded-error.ts'
import { setReplicaOf } from '../layout/clique-instance.ts'
import { eachReplica } from '../layout/layout.ts'
import { mnnvlGroups } from '../layout/mnnvl.ts'
import { keyOf } from '../layout/object-key.ts'
import type { StoredSet } from '../layout/stored.ts'
import { type ComputeDomain, computeDomain } from '../objects/compute-domain.ts'
import type { WantedChild } from '../objects/wanted-child.ts'
import type { OperatorContext } from '../operator-context.ts'
import { planChildren } from '../ownership/child-objects.ts'

export interface SyncedDomains extends Outcome {
  /** Replicas whose domain is still being deleted, with the error that reports it. Their pods are created afterwards. */
  readonly waiting: ReadonlyMap<number, Error>
}

const noDomains: SyncedDomains = { ...nothingDone, waiting: new Map() }

export async function syncComputeDomains(
  set: StoredSet,
  context: OperatorContext,
  signal: AbortSignal,
): Promise<SyncedDomains> {
  const { caches } = context
  if (!caches.computeDomains) return noDomains
  const groups = mnnvlGroups(set)
  const existing = caches.computeDomains.byIndex('controller', set.metadata.uid)
  if (groups.length === 0 && existing.length === 0) return noDomains
  const plan = planChildren<ComputeDomain>({
    wanted: wantedDomains(set, groups),
    existing,
    ownerUid: set.metadata.uid,
    patch: missingFields,
  })
  const isUsed = (domain: Stored<ComputeDomain>) => isInUse(set, domain, context)
  const { held = [], terminating = [] } = Object.groupBy(plan.terminating, domain =>
    isUsed(domain) ? 'held' : 'terminating',
  )
  for (const { metadata } of held)
    context.events.emit(set, eventSource.podCliqueSet, events.computeDomainHeld(metadata.name))
  const outcome = await execute(
    [
      ...plan.patch.map(({ object, patch }) => repair(object, patch)),
      ...plan.create.map(one => creation(set, one)),
    ],
    context,
    { signal, tolerated: firstBatch },
  )
  const unwanted = [...plan.remove, ...terminatingUnwanted(existing, plan.terminating)].filter(
    one => !isUsed(one),
  )
  const released = await executeEach(
    [...terminating, ...unwanted].map(domain => release(set, domain)),
    context,
    { signal },
  )
  return {
    ...outcome,
    failures: [...outcome.failures, ...released],
    waiting: replicasWaitingFor(terminating, set, groups),
  }
}

/** A wanted domain that another client deleted is recreated after it is gone. The retry detects that. */
function replicasWaitingFor(
  domains: readonly Stored<ComputeDomain>[],
  set: StoredSet,
  groups: readonly string[],
): ReadonlyMap<number, Error> {
  const waiting = new Map<number, Error>()
  if (domains.length === 0) return waiting
  const byName = new Map(domains.map(domain => [domain.metadata.name, domain]))
  for (const replica of eachReplica(set))
    for (const group of groups) {
      const domain = byName.get(names.computeDomain(set.metadata.name, replica, group))
      if (domain) waiting.set(replica, setErrors.domainTerminating(keyOf(domain))())
    }
  return waiting
}

function* wantedDomains(set: StoredSet, groups: readonly string[]): Generator<WantedChild<ComputeDomain>> {
  for (const replica of eachReplica(set))
    for (const group of groups)
      yield {
        name: names.computeDomain(set.metadata.name, replica, group),
        build: () => computeDomain(set, replica, group),
      }
}

/** Deletes the domains of a set that is being deleted. */
export async function releaseComputeDomains(
  set: StoredSet,
  context: OperatorContext,
  signal: AbortSignal,
): Promise<void> {
  const sequences = domainsOf(set, context).map(domain => release(set, domain))
  throwIfAny(await executeEach(sequences, context, { signal }))
}

/** Reports whether pods still use a domain of the set. */
export function areDomainsInUse(set: StoredSet, context: OperatorContext): boolean {
  return domainsOf(set, context).some(domain => isInUse(set, domain, context))
}

function domainsOf(set: StoredSet, { caches }: OperatorContext): Stored<ComputeDomain>[] {
  return caches.computeDomains?.byIndex('controller', set.metadata.uid) ?? []
}

function creation(set: StoredSet, object: ComputeDomain): Create<ComputeDomain> {
  const id = keyOf(object)
  return {
    kind: 'create',
    resource: resources.computeDomains,
    object,
    error: setErrors.createDomain(id),
    existing: {
      ownerUid: set.metadata.uid,
      repair: existing => missingFields(existing, object),
      conflict: setErrors.foreignDomain(id),
    },
    report: {
      about: set,
      source: eventSource.podCliqueSet,
      done: () => events.computeDomainCreated(id),
      failed: error => events.computeDomainCreateFailed(id, error),
    },
  }
}

function repair(object: Stored<ComputeDomain>, merge: MergePatch): Intent {
  return { kind: 'patch', resource: resources.computeDomains, object, merge }
}

/** Removes the operator's finalizer, then deletes the domain, unless it is terminating already. */
function release(set: StoredSet, domain: Stored<ComputeDomain>): Intent[][] {
  const { name, resourceVersion, deletionTimestamp, finalizers = [] } = domain.metadata
  const others = finalizers.filter(one => one !== finalizer.computeDomain)
  const failed = {
    about: set,
    source: eventSource.podCliqueSet,
    failed: (error: string) => events.computeDomainDeleteFailed(name, error),
  }
  const done = { ...failed, done: () => events.computeDomainDeleted(name) }
  const error = setErrors.releaseDomain(name)
  const steps: Intent[][] = []
  if (others.length < finalizers.length)
    // The patch replaces the whole list. With the resource version, a finalizer that the driver adds meanwhile causes a
    // conflict.
    steps.push([
      {
        ...repair(domain, { metadata: { resourceVersion, finalizers: others } }),
        error,
        report: deletionTimestamp ? done : failed,
      },
    ])
  if (!deletionTimestamp)
    steps.push([{ kind: 'delete', resource: resources.computeDomains, object: domain, error, report: done }])
  return steps
}

/** Selects domains that are not wanted, that another client deleted, and that only the operator's finalizer keeps. */
function terminatingUnwanted(
  existing: readonly Stored<ComputeDomain>[],
  terminating: readonly Stored<ComputeDomain>[],
): Stored<ComputeDomain>[] {
  return existing.filter(
    domain =>
      domain.metadata.deletionTimestamp &&
      !terminating.includes(domain) &&
      domain.metadata.finalizers?.includes(finalizer.computeDomain),
  )
}

/** The operator's labels and finalizer. Labels and finalizers of other clients stay, and so does the spec. */
function missingFields(existing: Stored<ComputeDomain>, wanted: ComputeDomain): MergePatch | undefined {
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
 * Reports whether pods of the replica use the domain. Terminating pods count: they use the fabric until they are gone.
 * If the replica stays, pods that do not claim the domain do not count. Pods of users that only carry the labels never
 * count.
 */
function isInUse(set: StoredSet, domain: Stored<ComputeDomain>, { caches }: OperatorContext): boolean {
  const { name, namespace, deletionTimestamp } = set.metadata
  const replica = setReplicaOf(domain)
  if (replica === undefined) return false
  const stays = !deletionTimestamp && replica < (set.spec.replicas ?? 0)
  return caches.pods
    .byIndex('replica', setReplicaKey(namespace, name, replica))
    .some(pod => claimsPlaceIn(domain, pod.spec) || (!stays && pod.metadata.ownerReferences?.some(isClique)))
}

/** Compares by kind, not by UID, because cliques are deleted before their pods. */
function isClique({ kind, controller }: OwnerReference): boolean {
  return controller === true && kind === kinds.podClique.kind
}

function claimsPlaceIn({ metadata }: ComputeDomain, spec: PodSpec | undefined): boolean {
  const claims = spec?.resourceClaims ?? []
  return claims.some(claim => claim.resourceClaimTemplateName === metadata.name)
}
