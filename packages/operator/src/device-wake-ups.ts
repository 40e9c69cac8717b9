// SPDX-License-Identifier: Apache-2.0

// Whom changes of shared claims, of their templates and of NVLink domains wake. All three are optional: a cluster that
// does not serve them has nothing to wake anybody with.
import { kinds, label, type PodCliqueSet, type ResourceSharing } from '@grove/api'
import { type Change, type KubeObject, type Logger, type Source, type Stored, sourceOf } from '@grove/kube'
import { keyOf, type ObjectKey } from './object-key.ts'
import { sameMeaning } from './owned-fields.ts'
import type { StoredSet } from './stored.ts'
import type { World } from './world.ts'

type OwnerKind = 'podCliqueSet' | 'podCliqueScalingGroup' | 'podClique'

/** Claims that somebody took away come back, and templates that come late are used: whoever owns the claims looks. */
export function claimSources(world: World, owner: OwnerKind, log: Logger): Source<ObjectKey>[] {
  const { resourceClaims, claimTemplates } = world.optional
  return [
    ...(resourceClaims
      ? [
          sourceOf<Change<KubeObject>, ObjectKey>(
            handler => resourceClaims.onChange(handler as never),
            change => ownerOfLost(change, kinds[owner].kind),
            log,
          ),
        ]
      : []),
    ...(claimTemplates
      ? [
          sourceOf<Change<KubeObject>, ObjectKey>(
            handler => claimTemplates.onChange(handler as never),
            change => (change.type === 'add' ? waitingFor(change.new, world, owner) : []),
            log,
          ),
        ]
      : []),
  ]
}

/** Sets whose domains were touched by somebody, or are no longer held by pods. */
export function domainSources(world: World, log: Logger): Source<ObjectKey>[] {
  const { computeDomains } = world
  if (!computeDomains) return []
  return [
    sourceOf<Change<KubeObject>, ObjectKey>(
      handler => computeDomains.onChange(handler as never),
      change => (isTouched(change) ? setOf(change.new ?? change.old) : []),
      log,
    ),
    sourceOf<Change<KubeObject>, ObjectKey>(
      handler => world.pods.onChange(handler as never),
      change => {
        if (change.type !== 'delete') return []
        const { namespace, labels } = change.old.metadata
        const isHeld = computeDomains
          .list(namespace)
          .some(({ metadata }) =>
            [label.partOf, label.setReplicaIndex].every(key => metadata.labels?.[key] === labels?.[key]),
          )
        return isHeld ? setOf(change.old) : []
      },
      log,
    ),
  ]
}

function setOf({ metadata }: Stored<KubeObject>): ObjectKey[] {
  const set = metadata.labels?.[label.partOf]
  return set ? [`${metadata.namespace ?? ''}/${set}`] : []
}

function ownerOfLost(change: Change<KubeObject>, kind: string): ObjectKey[] {
  if (change.type !== 'delete') return []
  const { namespace, ownerReferences } = change.old.metadata
  const owner = ownerReferences?.find(reference => reference.controller)
  return owner?.kind === kind ? [`${namespace ?? ''}/${owner.name}`] : []
}

/** Owners of claims that are made from a template: rarely more than a few sets name it. */
function waitingFor({ metadata }: Stored<KubeObject>, world: World, owner: OwnerKind): ObjectKey[] {
  const sets = world.sets
    .list()
    .filter(set =>
      sharedBy(set).some(
        entry =>
          entry.name === metadata.name && (entry.namespace || set.metadata.namespace) === metadata.namespace,
      ),
    )
    .map(keyOf)
  if (owner === 'podCliqueSet') return sets
  const children = owner === 'podClique' ? world.cliques : world.groups
  return sets.flatMap(key => children.byIndex('set', key).map(keyOf))
}

/** Whether a set has shared claims or NVLink domains. */
export function usesDevices(set: StoredSet, { computeDomains }: World): boolean {
  return sharedBy(set).length > 0 || (computeDomains?.byIndex('controller', set.metadata.uid).length ?? 0) > 0
}

function sharedBy({ spec: { template } }: PodCliqueSet): ResourceSharing[] {
  return [
    ...(template.resourceSharing ?? []),
    ...(template.podCliqueScalingGroups ?? []).flatMap(group => group.resourceSharing ?? []),
    ...template.cliques.flatMap(clique => clique.resourceSharing ?? []),
  ]
}

/** What we keep as it is: that the domain stands, its labels and our finalizer. Its status is its driver's. */
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
