// SPDX-License-Identifier: Apache-2.0

// Event sources for shared claims, their templates and ComputeDomains. All three are optional: a cluster need not
// serve them.
import { kinds, label } from '@grove/api'
import type { Change, KubeObject, Logger, Source, Stored } from '@grove/kube'
import { sameMeaning } from '../apply/owned-fields.ts'
import type { Caches } from '../caches/caches.ts'
import { sharedBy } from '../devices/shared-claims.ts'
import { type SetKey, setKey } from '../layout/object-key.ts'
import { changesOf } from './cache-source.ts'

type Named = Parameters<typeof setKey>[0]
type OwnerKind = 'podCliqueSet' | 'podCliqueScalingGroup' | 'podClique'

/** Enqueues the owner when a claim was deleted, or when a claim template was created after the set. */
export function claimSources<Key extends string>(
  caches: Caches,
  owner: OwnerKind,
  keyOfOwner: (owner: Named) => Key,
  log: Logger,
): Source<Key>[] {
  const { resourceClaims, claimTemplates } = caches.optional
  return [
    ...(resourceClaims
      ? [changesOf(resourceClaims, log, change => ownerOfLost(change, kinds[owner].kind).map(keyOfOwner))]
      : []),
    ...(claimTemplates
      ? [
          changesOf(claimTemplates, log, change =>
            change.type === 'add' ? waitingFor(change.new, caches, owner).map(keyOfOwner) : [],
          ),
        ]
      : []),
  ]
}

/** Enqueues sets whose ComputeDomains another client edited, or whose pods no longer use them. */
export function domainSources(caches: Caches, log: Logger): Source<SetKey>[] {
  const { computeDomains } = caches
  if (!computeDomains) return []
  return [
    changesOf(computeDomains, log, change => (isTouched(change) ? setOf(change.new ?? change.old) : [])),
    changesOf(caches.pods, log, change => {
      if (change.type !== 'delete') return []
      const { namespace, labels } = change.old.metadata
      const isHeld = computeDomains
        .list(namespace)
        .some(({ metadata }) =>
          [label.partOf, label.setReplicaIndex].every(key => metadata.labels?.[key] === labels?.[key]),
        )
      return isHeld ? setOf(change.old) : []
    }),
  ]
}

function setOf({ metadata }: Stored<KubeObject>): SetKey[] {
  const set = metadata.labels?.[label.partOf]
  return set ? [setKey({ namespace: metadata.namespace, name: set })] : []
}

function ownerOfLost(change: Change<KubeObject>, kind: string): Named[] {
  if (change.type !== 'delete') return []
  const { namespace, ownerReferences } = change.old.metadata
  const owner = ownerReferences?.find(reference => reference.controller)
  return owner?.kind === kind ? [{ namespace, name: owner.name }] : []
}

/** Owners of claims that are created from a template. Few sets name the same template. */
function waitingFor({ metadata }: Stored<KubeObject>, caches: Caches, owner: OwnerKind): Named[] {
  const sets = caches.sets
    .list()
    .filter(set =>
      sharedBy(set).some(
        entry =>
          entry.name === metadata.name && (entry.namespace || set.metadata.namespace) === metadata.namespace,
      ),
    )
    .map(set => set.metadata)
  if (owner === 'podCliqueSet') return sets
  const children = owner === 'podClique' ? caches.cliques : caches.groups
  return sets.flatMap(set => children.byIndex('set', setKey(set)).map(child => child.metadata))
}

/**
 * Reports a change of the fields that the operator owns: existence, labels and finalizers. The driver owns the
 * status.
 */
function isTouched(change: Change<KubeObject>): boolean {
  if (change.type !== 'update') return change.type === 'delete'
  const before = change.old.metadata
  const after = change.new.metadata
  return (
    before.deletionTimestamp !== after.deletionTimestamp ||
    !sameMeaning(before.labels, after.labels) ||
    !sameMeaning(before.finalizers, after.finalizers)
  )
}
