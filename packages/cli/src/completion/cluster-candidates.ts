// SPDX-License-Identifier: Apache-2.0

// Candidates that only the cluster knows: types and names of objects.
import { collectionPath, type DiscoveredResource, resourceName } from '@grove/kube/client'
import { type ClusterOptions, type LiveCluster, withCluster } from '../clusters/live-cluster.ts'
import { ServedKinds } from '../objects/served-kinds.ts'
import { type Table, tableAccept } from '../objects/table.ts'
import type { Candidate, CompletionRequest } from './completion-request.ts'

/** A user who presses Tab waits. */
const timeoutMs = 3_000
/** More names are of no use on a screen. */
const mostNames = 500

export function clusterCandidates({ wanted, word, options }: CompletionRequest): Promise<Candidate[]> {
  return withCluster(clusterOptions(options), async cluster => {
    const kinds = await ServedKinds.of(cluster.client)
    if (wanted.kind === 'namespaces') {
      // The value may follow its option in one word: --namespace=team.
      const before = word.slice(0, word.lastIndexOf('=') + 1)
      return (await namesOf(cluster, kinds, 'namespaces')).map(value => ({ value: before + value }))
    }
    if (wanted.kind !== 'objects') return []
    const { type } = wanted
    if (type !== undefined) return (await namesOf(cluster, kinds, type)).map(value => ({ value }))
    const slash = word.indexOf('/')
    if (slash >= 0) {
      const of = word.slice(0, slash)
      return (await namesOf(cluster, kinds, of)).map(name => ({ value: `${of}/${name}` }))
    }
    return typeCandidates(kinds.listable())
  })
}

function clusterOptions({
  namespace,
  kubeconfig,
  context,
  local,
}: CompletionRequest['options']): ClusterOptions {
  return {
    timeoutMs,
    ...(typeof namespace === 'string' && { namespace }),
    ...(typeof kubeconfig === 'string' && { kubeconfig }),
    ...(typeof context === 'string' && { context }),
    ...(local === true && { local }),
  }
}

/** With the group only where two resources have the same name. */
function typeCandidates(resources: readonly DiscoveredResource[]): Candidate[] {
  const byName = Map.groupBy(resources, ({ resource }) => resource)
  return resources.map(each => ({
    value: byName.get(each.resource)?.length === 1 ? each.resource : resourceName(each),
    description: [each.kind, ...each.shortNames].join(', '),
  }))
}

async function namesOf(
  { client, namespace }: LiveCluster,
  kinds: ServedKinds,
  type: string,
): Promise<string[]> {
  const [resource] = kinds.named(type)
  if (!resource) return []
  const path = `${collectionPath(resource, resource.namespaced ? namespace : undefined)}?limit=${mostNames}`
  const table = (await client.raw({
    verb: 'list',
    method: 'GET',
    path,
    accept: tableAccept,
  })) as Table
  return (table.rows ?? []).flatMap(({ object }) => object?.metadata?.name ?? [])
}
