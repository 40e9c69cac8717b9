// SPDX-License-Identifier: Apache-2.0

// The work queue key of a gang. It names the replica that the gang holds, so that no controller has to search the
// layout of a large set.
import { label, names } from '@grove/api'
import type { KubeObject } from '@grove/kube'
import { groupReplicaOf, setReplicaOf } from './clique-instance.ts'
import {
  basePodGang,
  type GroupReplicas,
  memberCliques,
  minAvailableOfGroup,
  type PodGangInstance,
  type PodGangReference,
  replicaCount,
  scalingGroup,
  scalingGroupConfigs,
  scalingGroups,
} from './layout.ts'
import type { StoredSet } from './stored.ts'

declare const brand: unique symbol

/**
 * `namespace/set/replica` for a base gang, with `/group name/group replica` for a scaled one. Branded, so that the
 * keys of gangs and of other objects cannot be mixed up.
 */
export type GangKey = string & { readonly [brand]: 'PodGang' }

type Written = `${string}/${string}/${number}` | `${string}/${string}/${number}/${string}/${number}`

/** The key in the form that logs show. */
export function gangKey(text: Written): GangKey {
  return text as string as GangKey
}

export function gangKeyOf(
  set: { metadata: { namespace: string; name: string } },
  gang: PodGangReference,
): GangKey {
  const base = `${set.metadata.namespace}/${set.metadata.name}/${gang.setReplica}` as const
  return gangKey(gang.scaled ? `${base}/${gang.scaled.instance.name}/${gang.scaled.replica}` : base)
}

/** The gang that a clique or a pod belongs to, by its labels. */
export function gangKeyOfMember(member: KubeObject): GangKey | undefined {
  const { namespace, labels } = member.metadata ?? {}
  const set = labels?.[label.partOf]
  const replica = setReplicaOf(member)
  if (!namespace || !set || replica === undefined) return undefined
  const base = `${namespace}/${set}/${replica}` as const
  if (!labels?.[label.basePodGang]) return gangKey(base)
  const group = labels[label.scalingGroup]
  const groupReplica = groupReplicaOf(member)
  return group && groupReplica !== undefined ? gangKey(`${base}/${group}/${groupReplica}`) : undefined
}

export function parseGangKey(key: GangKey) {
  const [namespace = '', set = '', replica = '', group, groupReplica] = key.split('/')
  return { namespace, set, replica: Number(replica), group, groupReplica: Number(groupReplica) }
}

/** The name of the gang of a key; undefined if the set has no such scaling group. */
export function gangNameOf(set: StoredSet, key: GangKey): string | undefined {
  const { replica, group, groupReplica } = parseGangKey(key)
  if (group === undefined) return names.basePodGang(set.metadata.name, replica)
  const config = scalingGroupConfigs(set).find(
    ({ name }) => names.scalingGroup(set.metadata.name, replica, name) === group,
  )
  return config && names.scaledPodGang(group, groupReplica, minAvailableOfGroup(config))
}

/**
 * Returns the key of a gang by its name, if the set wants the gang now. A set may want far more gangs than exist, so
 * this does not search the layout. The indexes in the name give the only candidate, whose name is compared.
 */
export function wantedGangKey(
  set: StoredSet,
  name: string,
  groupReplicas: GroupReplicas,
): GangKey | undefined {
  const rest = name.slice(names.basePodGang(set.metadata.name, 0).length - 1)
  const [, replica, group, index] = /^(\d{1,9})(?:-(.+)-(\d{1,9}))?$/.exec(rest) ?? []
  const setReplica = Number(replica)
  if (replica === undefined || setReplica >= replicaCount(set)) return undefined
  if (group === undefined)
    return name === names.basePodGang(set.metadata.name, setReplica)
      ? gangKeyOf(set, { name, setReplica, scaled: undefined })
      : undefined
  const config = scalingGroupConfigs(set).find(candidate => candidate.name === group)
  if (!config) return undefined
  const instance = scalingGroup(set, setReplica, config)
  const minimum = minAvailableOfGroup(config)
  const scaled = { instance, replica: Number(index) + minimum }
  return name === names.scaledPodGang(instance.name, scaled.replica, minimum) &&
    scaled.replica < groupReplicas(instance)
    ? gangKeyOf(set, { name, setReplica, scaled })
    : undefined
}

/** The gang of a key, if the set wants it now. */
export function gangInstanceOf(
  set: StoredSet,
  key: GangKey,
  groupReplicas: (group: string) => number,
): PodGangInstance | undefined {
  const { replica, group, groupReplica } = parseGangKey(key)
  if (replica >= replicaCount(set)) return undefined
  if (group === undefined) return basePodGang(set, replica)
  const instance = scalingGroups(set, replica).find(candidate => candidate.name === group)
  if (!instance) return undefined
  const minimum = minAvailableOfGroup(instance.config)
  if (groupReplica < minimum || groupReplica >= groupReplicas(group)) return undefined
  return {
    name: names.scaledPodGang(group, groupReplica, minimum),
    setReplica: replica,
    cliques: memberCliques(set, instance, groupReplica),
    scaled: { instance, replica: groupReplica },
  }
}
