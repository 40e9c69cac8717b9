// SPDX-License-Identifier: Apache-2.0

// Indexes objects by the labels that name their replica of a set or of a scaling group. A label selector over these
// labels matches no object that the index does not return, so a lookup of one replica does not read the others.
import { label } from '@grove/api'
import type { IndexFunction, KubeObject, Resource, Stored } from '@grove/kube'

export const byReplica: IndexFunction<KubeObject> = ({ metadata: { namespace = '', labels = {} } }) => {
  const keys: string[] = []
  const add = (owner: string | undefined, index: string | undefined, key: typeof setReplicaKey) => {
    if (owner !== undefined && index !== undefined) keys.push(key(namespace, owner, index))
  }
  add(labels[label.partOf], labels[label.setReplicaIndex], setReplicaKey)
  add(labels[label.scalingGroup], labels[label.scalingGroupReplicaIndex], groupReplicaKey)
  return keys
}

export function setReplicaKey(namespace: string, set: string, replica: number | string): string {
  return `set ${namespace}/${set}/${replica}`
}

export function groupReplicaKey(namespace: string, group: string, replica: number | string): string {
  return `group ${namespace}/${group}/${replica}`
}

interface ReplicaIndexed<T extends KubeObject> {
  readonly resource: Resource<T>
  byIndex(index: 'replica', key: string): Stored<T>[]
}

/** Returns the part of a cache that holds the objects of these replicas. */
export function withinReplicas<T extends KubeObject>(
  cache: ReplicaIndexed<T>,
  keys: readonly string[],
): { readonly resource: Resource<T>; list(namespace: string): Stored<T>[] } {
  return { resource: cache.resource, list: () => keys.flatMap(key => cache.byIndex('replica', key)) }
}
