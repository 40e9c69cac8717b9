// SPDX-License-Identifier: Apache-2.0

// Finds the instance of the layout that a live object represents. Compares labels with the names that the layout gives,
// and never parses names.
import { label, names, type PodClique, type PodCliqueScalingGroup } from '@grove/api'
import type { KubeObject } from '@grove/kube'
import {
  type CliqueInstance,
  memberCliques,
  replicaCount,
  type ScalingGroupInstance,
  scalingGroups,
  standaloneCliques,
} from './layout.ts'
import type { StoredSet } from './stored.ts'

export function numberLabel(
  labels: Readonly<Record<string, string>> | undefined,
  key: string,
): number | undefined {
  const text = labels?.[key]
  return text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : undefined
}

/** The index of the set replica that an object belongs to, from its label. */
export function setReplicaOf({ metadata }: KubeObject): number | undefined {
  return numberLabel(metadata?.labels, label.setReplicaIndex)
}

/**
 * The index of the set replica that a child belongs to. -1 if its label and its name disagree: a user has edited the
 * label, and the child must not be deleted with another replica.
 */
export function replicaOf(set: StoredSet, child: KubeObject): number {
  const replica = setReplicaOf(child)
  if (replica === undefined) return -1
  const named = names.replica(set.metadata.name, replica)
  const isNamed = child.metadata?.name === named || child.metadata?.name?.startsWith(`${named}-`)
  return isNamed ? replica : -1
}

/** The index of the scaling group replica that an object belongs to, from its label. */
export function groupReplicaOf({ metadata }: KubeObject): number | undefined {
  return numberLabel(metadata?.labels, label.scalingGroupReplicaIndex)
}

/**
 * The index of the group replica that a member belongs to; undefined if its label and its name disagree. Such a member
 * must not be deleted with another replica.
 */
export function memberReplicaOf(group: PodCliqueScalingGroup, clique: PodClique): number | undefined {
  const replica = groupReplicaOf(clique)
  if (replica === undefined) return undefined
  const named = names.scalingGroupReplica(group.metadata.name ?? '', replica)
  return clique.metadata.name?.startsWith(`${named}-`) ? replica : undefined
}

/** The members of a scaling group by their replica. Omits terminating members and members without an index. */
export function membersByReplica<C extends PodClique>(members: readonly C[]): Map<number, C[]> {
  const existing = members.filter(
    member => !member.metadata.deletionTimestamp && groupReplicaOf(member) !== undefined,
  )
  return Map.groupBy(existing, member => groupReplicaOf(member)!)
}

export function groupInstanceOf(
  set: StoredSet,
  group: PodCliqueScalingGroup,
): ScalingGroupInstance | undefined {
  const replica = setReplicaOf(group)
  if (replica === undefined) return undefined
  return scalingGroups(set, replica).find(instance => instance.name === group.metadata.name)
}

export function cliqueInstanceOf(set: StoredSet, clique: PodClique): CliqueInstance | undefined {
  const replica = setReplicaOf(clique)
  if (replica === undefined) return undefined
  const groupName = clique.metadata.labels?.[label.scalingGroup]
  if (groupName === undefined)
    return standaloneCliques(set, replica).find(instance => instance.name === clique.metadata.name)
  const group = scalingGroups(set, replica).find(instance => instance.name === groupName)
  const groupReplica = groupReplicaOf(clique)
  if (!group || groupReplica === undefined) return undefined
  return memberCliques(set, group, groupReplica).find(instance => instance.name === clique.metadata.name)
}

/** The existing scaling groups, from the cache. */
export interface LiveGroups {
  readonly groups: {
    get(ref: { readonly namespace: string; readonly name: string }): PodCliqueScalingGroup | undefined
  }
}

/** Reports whether the set and the group still want the replica that a clique belongs to. */
export function isWanted(set: StoredSet, { setReplica, group }: CliqueInstance, caches: LiveGroups): boolean {
  if (setReplica >= replicaCount(set)) return false
  if (!group) return true
  const live = caches.groups.get({ namespace: set.metadata.namespace, name: group.instance.name })
  return live !== undefined && group.replica < live.spec.replicas
}
