// SPDX-License-Identifier: Apache-2.0

import type { PodCliqueSet } from '@grove/api'
import { label } from '@grove/api/constants'
import type { SetObjects } from '@grove/inspect'
import type { KubeObject, Resource, Stored } from '@grove/kube/client'
import { resources } from '@grove/operator/resources'
import { CommandError } from '../command-error.ts'
import type { LiveCluster } from './live-cluster.ts'

/** Reads a set and all of its objects with five requests. */
export async function readSet({ client, namespace }: LiveCluster, name: string): Promise<SetObjects> {
  const ours = async <T extends KubeObject>(resource: Resource<T>): Promise<Stored<T>[]> =>
    (await client.list(resource, { namespace, labelSelector: `${label.partOf}=${name}` })).items
  const set = await client.find(resources.podCliqueSets, { name, namespace })
  if (!set) throw await noSuchSet({ client, namespace }, name)
  const [groups, cliques, gangs, pods] = await Promise.all([
    ours(resources.podCliqueScalingGroups),
    ours(resources.podCliques),
    ours(resources.podGangs),
    ours(resources.pods),
  ])
  return { set: set as PodCliqueSet, groups, cliques, gangs, pods }
}

/** Reads all sets of the cluster and all of their objects with five requests. */
export async function readAllSets({ client }: Pick<LiveCluster, 'client'>): Promise<SetObjects[]> {
  const managed = { labelSelector: label.partOf }
  const [sets, groups, cliques, gangs, pods] = await Promise.all([
    client.list(resources.podCliqueSets),
    client.list(resources.podCliqueScalingGroups, managed),
    client.list(resources.podCliques, managed),
    client.list(resources.podGangs, managed),
    client.list(resources.pods, { labelSelector: `${label.partOf},${label.podClique}` }),
  ])
  const ofSet = <T extends KubeObject>({ items }: { items: readonly T[] }) => {
    const bySet = Map.groupBy(
      items,
      ({ metadata }) => `${metadata?.namespace}/${metadata?.labels?.[label.partOf]}`,
    )
    return (set: Stored<PodCliqueSet>) => bySet.get(`${set.metadata.namespace}/${set.metadata.name}`) ?? []
  }
  const [groupsOf, cliquesOf, gangsOf, podsOf] = [ofSet(groups), ofSet(cliques), ofSet(gangs), ofSet(pods)]
  return sets.items.map(set => ({
    set,
    groups: groupsOf(set),
    cliques: cliquesOf(set),
    gangs: gangsOf(set),
    pods: podsOf(set),
  }))
}

type Place = Pick<LiveCluster, 'client' | 'namespace'>

/** The only set of the namespace, if the user names none. */
export async function onlySet(place: Place): Promise<string> {
  const names = await namesOfSets(place)
  if (names.length === 1) return names[0]!
  throw names.length === 0
    ? new CommandError(
        `there is no PodCliqueSet in namespace ${place.namespace}; \`grove status -A\` shows those of all namespaces`,
        1,
      )
    : new CommandError(
        `namespace ${place.namespace} has several PodCliqueSets; name one of ${names.join(', ')}`,
      )
}

export async function noSuchSet(place: Place, name: string): Promise<CommandError> {
  const names = await namesOfSets(place)
  const hint = names.length === 0 ? '' : `; there is ${names.join(', ')}`
  return new CommandError(`there is no PodCliqueSet ${name} in namespace ${place.namespace}${hint}`, 1)
}

/** Maximum number of names in a message. */
const mentioned = 10

async function namesOfSets({ client, namespace }: Place): Promise<string[]> {
  const { items } = await client.list(resources.podCliqueSets, { namespace })
  const names = items.map(({ metadata }) => metadata.name)
  return names.length > mentioned ? [...names.slice(0, mentioned), '…'] : names
}
