// SPDX-License-Identifier: Apache-2.0

import { label, type PodClique, type PodCliqueScalingGroup } from '@grove/api'
import type { KubeObject, Stored } from '@grove/kube'
import type { Caches } from '../caches/caches.ts'
import { isControlledBy } from '../layout/owner.ts'
import type { StoredSet } from '../layout/stored.ts'

/**
 * Returns the set that an object belongs to, through its controller or its controller's controller. Compares UIDs:
 * objects of a deleted set of the same name belong to no set.
 */
export function owningSet(caches: Caches, object: KubeObject): StoredSet | undefined {
  const { namespace, labels } = object.metadata ?? {}
  const name = labels?.[label.partOf]
  if (!namespace || !name) return undefined
  const set = caches.sets.get({ namespace, name })
  if (!set) return undefined
  if (isControlledBy(object, set.metadata.uid)) return set
  const group = owningGroup(caches, object)
  return group && isControlledBy(group, set.metadata.uid) ? set : undefined
}

function owningGroup(caches: Caches, object: KubeObject): Stored<PodCliqueScalingGroup> | undefined {
  const { namespace, labels } = object.metadata ?? {}
  const name = labels?.[label.scalingGroup]
  if (!namespace || !name) return undefined
  const group = caches.groups.get({ namespace, name })
  return group && isControlledBy(object, group.metadata.uid) ? group : undefined
}

export interface OwnChildren {
  readonly groups: readonly Stored<PodCliqueScalingGroup>[]
  /** Standalone cliques and members of groups. */
  readonly cliques: readonly Stored<PodClique>[]
}

/** The groups and cliques that the set controls, by UID; cliques also through a group. Includes terminating objects. */
export function ownChildren(
  { metadata: { uid } }: StoredSet,
  caches: Pick<Caches, 'groups' | 'cliques'>,
): OwnChildren {
  const groups = caches.groups.byIndex('controller', uid)
  const owners = [uid, ...groups.map(({ metadata }) => metadata.uid)]
  return { groups, cliques: owners.flatMap(owner => caches.cliques.byIndex('controller', owner)) }
}
