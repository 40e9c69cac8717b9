// SPDX-License-Identifier: Apache-2.0

// How controllers call a gang: by what it holds, so that nobody has to search for it in the layout of a large set.
import { label, names } from '@grove/api'
import type { KubeObject } from '@grove/kube'
import { numberLabel } from '../clique-instance.ts'
import {
  basePodGang,
  memberCliques,
  minAvailableOfGroup,
  type PodGangInstance,
  replicaCount,
  scalingGroups,
} from '../layout.ts'
import type { StoredSet } from '../stored.ts'

/** `namespace/set/replica` for a base gang, with `/group name/group replica` for a scaled one. */
export type GangKey = `${string}/${string}/${number}` | `${string}/${string}/${number}/${string}/${number}`

export function gangKeyOf(
  set: { metadata: { namespace: string; name: string } },
  gang: PodGangInstance,
): GangKey {
  const base = `${set.metadata.namespace}/${set.metadata.name}/${gang.setReplica}` as const
  return gang.scaled ? `${base}/${gang.scaled.instance.name}/${gang.scaled.replica}` : base
}

/** The gang that a clique or a pod belongs to, by its labels. */
export function gangKeyOfMember({ metadata }: KubeObject): GangKey | undefined {
  const labels = metadata?.labels
  const set = labels?.[label.partOf]
  const replica = numberLabel(labels, label.setReplicaIndex)
  if (!metadata?.namespace || !set || replica === undefined) return undefined
  const base = `${metadata.namespace}/${set}/${replica}` as const
  if (!labels?.[label.basePodGang]) return base
  const group = labels[label.scalingGroup]
  const groupReplica = numberLabel(labels, label.scalingGroupReplicaIndex)
  return group && groupReplica !== undefined ? `${base}/${group}/${groupReplica}` : undefined
}

export function parseGangKey(key: GangKey) {
  const [namespace = '', set = '', replica = '', group, groupReplica] = key.split('/')
  return { namespace, set, replica: Number(replica), group, groupReplica: Number(groupReplica) }
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
