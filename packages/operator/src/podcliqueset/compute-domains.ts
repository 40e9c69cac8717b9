// SPDX-License-Identifier: Apache-2.0

// The NVLink domains of a set. Deleting one shuts the fabric down under whoever uses it, so a domain is released only
// when the pods of its replica are gone.
import { eventSource, events, finalizer, label, setErrorCode } from '@grove/api'
import { isAlreadyExists, isNotFound, type Stored } from '@grove/kube'
import { planChildren } from '../child-objects.ts'
import { CodedError, PassFailed, textOf } from '../coded-error.ts'
import { range } from '../layout.ts'
import { mnnvlGroups } from '../mnnvl.ts'
import { type ComputeDomain, computeDomain } from '../objects/compute-domain.ts'
import type { OperatorContext } from '../operator-context.ts'
import { resources } from '../resources.ts'
import type { StoredSet } from '../stored.ts'
import { runAll } from '../writes.ts'

export async function syncComputeDomains(
  set: StoredSet,
  context: OperatorContext,
  signal: AbortSignal,
): Promise<void> {
  const { world, events: sink } = context
  if (!world.computeDomains) return
  const groups = mnnvlGroups(set)
  const existing = world.computeDomains.byIndex('controller', set.metadata.uid)
  if (groups.length === 0 && existing.length === 0) return
  const plan = planChildren<ComputeDomain>({
    wanted: range(0, set.spec.replicas ?? 0).flatMap(replica =>
      groups.map(group => computeDomain(set, replica, group)),
    ),
    existing,
    ownerUid: set.metadata.uid,
    prune: true,
  })
  const failures = await runAll([
    ...plan.create.map(domain => async () => {
      const id = `${set.metadata.namespace}/${domain.metadata.name}`
      try {
        await world.client.create(resources.computeDomains, domain, { signal })
        sink.emit(set, eventSource.podCliqueSet, events.computeDomainCreated(id))
      } catch (error) {
        if (isAlreadyExists(error)) return
        sink.emit(set, eventSource.podCliqueSet, events.computeDomainCreateFailed(id, textOf(error)))
        throw new CodedError(
          'Sync',
          setErrorCode.syncComputeDomain,
          `Error creating ComputeDomain ${id}`,
          error,
        )
      }
    }),
    ...plan.remove
      .filter(domain => !hasPods(set, domain, context))
      .map(domain => () => releaseDomain(set, domain, context, signal)),
  ])
  if (failures.length) throw new PassFailed(failures)
}

/** Everything that holds the set's domains goes: it is being deleted. */
export async function releaseComputeDomains(
  set: StoredSet,
  context: OperatorContext,
  signal: AbortSignal,
): Promise<void> {
  const domains = context.world.computeDomains?.byIndex('controller', set.metadata.uid) ?? []
  const failures = await runAll(domains.map(domain => () => releaseDomain(set, domain, context, signal)))
  if (failures.length) throw new PassFailed(failures)
}

async function releaseDomain(
  set: StoredSet,
  domain: Stored<ComputeDomain>,
  { world, events: sink }: OperatorContext,
  signal: AbortSignal,
): Promise<void> {
  const { name, namespace = '', uid } = domain.metadata
  const finalizers = (domain.metadata.finalizers ?? []).filter(one => one !== finalizer.computeDomain)
  try {
    await world.client.patch(
      resources.computeDomains,
      { name, namespace },
      { merge: { metadata: { finalizers } } },
      { signal },
    )
    await world.client.delete(
      resources.computeDomains,
      { name, namespace },
      { signal, preconditions: { uid } },
    )
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

function hasPods(set: StoredSet, domain: ComputeDomain, { world }: OperatorContext): boolean {
  const replica = domain.metadata.labels?.[label.setReplicaIndex]
  return world.cliques
    .byIndex('set', `${set.metadata.namespace}/${set.metadata.name}`)
    .filter(clique => clique.metadata.labels?.[label.setReplicaIndex] === replica)
    .some(clique => world.podsOf(clique).length > 0)
}
