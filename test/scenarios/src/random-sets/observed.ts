// SPDX-License-Identifier: Apache-2.0

// Reads a set and all its objects.
import { label, type Pod, type PodClique, type PodCliqueScalingGroup, type PodGang } from '@grove/api'
import type { KubeObject, Resource, Stored } from '@grove/kube'
import { resources, type StoredSet } from '@grove/operator'
import type { Harness } from '../harness.ts'

/** Every kind of object that a set has in these tests. */
export const childKinds: readonly Resource<KubeObject>[] = [
  resources.pods,
  resources.podCliques,
  resources.podCliqueScalingGroups,
  resources.podGangs,
  resources.services,
  resources.serviceAccounts,
  resources.roles,
  resources.roleBindings,
  resources.secrets,
  resources.autoscalers,
]

export interface Observed {
  readonly set: StoredSet
  readonly pods: readonly Stored<Pod>[]
  readonly cliques: readonly Stored<PodClique>[]
  readonly groups: readonly Stored<PodCliqueScalingGroup>[]
  readonly gangs: readonly Stored<PodGang>[]
  /** Objects of all kinds, including those above. */
  readonly children: readonly Stored<KubeObject>[]
}

export async function observe(harness: Harness, name: string): Promise<Observed> {
  const set = (await harness.set(name)) as StoredSet
  const lists = await Promise.all(childKinds.map(resource => harness.list(resource, name)))
  const of = <T extends KubeObject>(resource: Resource<T>) =>
    lists[childKinds.indexOf(resource as Resource<KubeObject>)] as unknown as Stored<T>[]
  return {
    set,
    pods: of(resources.pods),
    cliques: of(resources.podCliques),
    groups: of(resources.podCliqueScalingGroups),
    gangs: of(resources.podGangs),
    children: lists.flatMap((list, at) => list.map(one => ({ ...one, kind: childKinds[at]!.kind }))),
  }
}

export function podsOf(seen: Observed, clique: string): Stored<Pod>[] {
  return seen.pods.filter(pod => pod.metadata.labels?.[label.podClique] === clique)
}
