// SPDX-License-Identifier: Apache-2.0

import type { Client } from './client.ts'
import type { RequestOptions } from './options.ts'
import type { ResourceDescriptor } from './resource.ts'

export interface DiscoveredResource extends ResourceDescriptor {
  readonly singular: string
  readonly verbs: readonly string[]
  readonly shortNames: readonly string[]
  readonly categories: readonly string[]
  /** `status`, `scale`. */
  readonly subresources: readonly string[]
  /** True for the version of the group that the server prefers. */
  readonly preferred: boolean
}

const aggregated = ['v2', 'v2beta1']
  .map(version => `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`)
  .concat('application/json')
  .join(',')

/**
 * Returns all resources of the server, in two requests; servers older than 1.27 need one per group version. Leaves
 * out groups whose aggregated server does not respond, like the server's own list.
 */
export async function discover(client: Client, options?: RequestOptions): Promise<DiscoveredResource[]> {
  const roots = await Promise.all(
    ['/api', '/apis'].map(path =>
      client.raw({ verb: 'get', method: 'GET', path, accept: aggregated }, options),
    ),
  )
  const found: DiscoveredResource[] = []
  for (const root of roots as DiscoveryRoot[]) {
    if (root.kind === 'APIGroupDiscoveryList')
      found.push(...(root as AggregatedList).items.flatMap(resourcesOfGroup))
    else found.push(...(await resourcesOneByOne(client, root, options)))
  }
  return found
}

interface DiscoveryRoot {
  readonly kind: 'APIGroupDiscoveryList' | 'APIGroupList' | 'APIVersions'
}

interface AggregatedGroup {
  readonly metadata: { readonly name?: string }
  readonly versions: readonly {
    readonly version: string
    readonly resources?: readonly {
      readonly resource: string
      readonly responseKind?: { readonly kind?: string }
      readonly scope: 'Namespaced' | 'Cluster'
      readonly singularResource?: string
      readonly verbs: readonly string[]
      readonly shortNames?: readonly string[]
      readonly categories?: readonly string[]
      readonly subresources?: readonly { readonly subresource: string }[]
    }[]
  }[]
}

interface AggregatedList extends DiscoveryRoot {
  readonly items: readonly AggregatedGroup[]
}

function resourcesOfGroup(group: AggregatedGroup): DiscoveredResource[] {
  return group.versions.flatMap(({ version, resources = [] }, order) =>
    resources.map(each => ({
      group: group.metadata.name ?? '',
      version,
      resource: each.resource,
      kind: each.responseKind?.kind ?? '',
      namespaced: each.scope === 'Namespaced',
      singular: each.singularResource ?? '',
      verbs: each.verbs,
      shortNames: each.shortNames ?? [],
      categories: each.categories ?? [],
      subresources: (each.subresources ?? []).map(({ subresource }) => subresource),
      preferred: order === 0,
    })),
  )
}

interface GroupList extends DiscoveryRoot {
  readonly versions?: readonly string[]
  readonly groups?: readonly {
    readonly name: string
    readonly versions: readonly { readonly version: string }[]
    readonly preferredVersion?: { readonly version: string }
  }[]
}

interface ResourceList {
  readonly resources: readonly {
    readonly name: string
    readonly singularName?: string
    readonly kind: string
    readonly namespaced: boolean
    readonly verbs: readonly string[]
    readonly shortNames?: readonly string[]
    readonly categories?: readonly string[]
  }[]
}

async function resourcesOneByOne(
  client: Client,
  root: DiscoveryRoot,
  options: RequestOptions | undefined,
): Promise<DiscoveredResource[]> {
  const { versions = [], groups = [] } = root as GroupList
  const wanted = [
    ...versions.map(version => ({ group: '', version, preferred: true })),
    ...groups.flatMap(({ name, versions, preferredVersion }) =>
      versions.map(({ version }) => ({
        group: name,
        version,
        preferred: version === (preferredVersion ?? versions[0])?.version,
      })),
    ),
  ]
  const lists = wanted.map(async ({ group, version, preferred }) => {
    const path = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
    const { resources } = (await client.raw({ verb: 'get', method: 'GET', path }, options)) as ResourceList
    return resources
      .filter(({ name }) => !name.includes('/'))
      .map(each => ({
        group,
        version,
        resource: each.name,
        kind: each.kind,
        namespaced: each.namespaced,
        singular: each.singularName ?? '',
        verbs: each.verbs,
        shortNames: each.shortNames ?? [],
        categories: each.categories ?? [],
        subresources: resources
          .filter(({ name }) => name.startsWith(`${each.name}/`))
          .map(({ name }) => name.slice(each.name.length + 1)),
        preferred,
      }))
  })
  return (await Promise.all(lists)).flat()
}
