// SPDX-License-Identifier: Apache-2.0

import { label, type PodCliqueScalingGroup } from '@grove/api'
import type { KubeObject, Stored } from '@grove/kube'
import { isControlledBy } from './child-objects.ts'
import type { StoredSet } from './stored.ts'
import type { World } from './world.ts'

/**
 * The set that an object belongs to, through its controller or its controller's controller. Identity counts, not the
 * name: what is left of a former set of the same name belongs to nobody.
 */
export function owningSet(world: World, object: KubeObject): StoredSet | undefined {
  const { namespace, labels } = object.metadata ?? {}
  const name = labels?.[label.partOf]
  if (!namespace || !name) return undefined
  const set = world.sets.get({ namespace, name })
  if (!set) return undefined
  if (isControlledBy(object, set.metadata.uid)) return set as StoredSet
  const group = owningGroup(world, object)
  return group && isControlledBy(group, set.metadata.uid) ? (set as StoredSet) : undefined
}

function owningGroup(world: World, object: KubeObject): Stored<PodCliqueScalingGroup> | undefined {
  const { namespace, labels } = object.metadata ?? {}
  const name = labels?.[label.scalingGroup]
  if (!namespace || !name) return undefined
  const group = world.groups.get({ namespace, name })
  return group && isControlledBy(object, group.metadata.uid) ? group : undefined
}
