// SPDX-License-Identifier: Apache-2.0

// Discovery in both forms: one document per group and version, or one aggregated document.
import { createHash } from 'node:crypto'
import type { Registry } from '../registry/registry.ts'
import type { Resource } from '../registry/resource.ts'
import { parseAccept } from './media-type.ts'
import type { ApiRequest, ApiResponse } from './request.ts'

export function handleDiscovery(registry: Registry, request: ApiRequest): ApiResponse | undefined {
  if (request.method !== 'GET' && request.method !== 'HEAD') return undefined
  const parts = request.path.split('/').filter(part => part !== '')
  const [root, ...rest] = parts
  if (parts.length === 0) return json({ paths: rootPaths(registry) })
  if (root === 'api' && rest.length === 0) return aggregated(registry, request, true) ?? json(coreVersions())
  if (root === 'apis' && rest.length === 0)
    return aggregated(registry, request, false) ?? json(groupList(registry))
  if (root === 'api' && rest.length === 1) return resourceList(registry, '', rest[0]!)
  if (root !== 'apis') return undefined
  if (rest.length === 1) {
    const group = groupsOf(registry).find(({ name }) => name === rest[0])
    return group && json({ kind: 'APIGroup', apiVersion: 'v1', ...apiGroup(group) })
  }
  return rest.length === 2 ? resourceList(registry, rest[0]!, rest[1]!) : undefined
}

interface Group {
  readonly name: string
  readonly versions: Map<string, Resource[]>
}

function groupsOf(registry: Registry): Group[] {
  const groups = new Map<string, Group>()
  for (const resource of registry.all()) {
    let group = groups.get(resource.group)
    if (!group) {
      group = { name: resource.group, versions: new Map() }
      groups.set(resource.group, group)
    }
    const list = group.versions.get(resource.version)
    if (list) list.push(resource)
    else group.versions.set(resource.version, [resource])
  }
  for (const group of groups.values()) sortVersions(group.versions)
  return [...groups.values()]
}

/** Stable versions before betas before alphas, newer ones first. */
function sortVersions(versions: Map<string, Resource[]>): void {
  const sorted = [...versions].sort(([a], [b]) => compareVersions(a, b))
  versions.clear()
  for (const [version, resources] of sorted) versions.set(version, resources)
}

const versionPattern = /^v(\d+)(?:(alpha|beta)(\d+))?$/
const stabilities = ['alpha', 'beta', undefined]

function compareVersions(a: string, b: string): number {
  const [left, right] = [versionPattern.exec(a), versionPattern.exec(b)]
  if (!left || !right) return left ? -1 : right ? 1 : a < b ? -1 : 1
  return (
    stabilities.indexOf(right[2]) - stabilities.indexOf(left[2]) ||
    Number(right[1]) - Number(left[1]) ||
    Number(right[3] ?? 0) - Number(left[3] ?? 0)
  )
}

function coreVersions(): object {
  return { kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs: [] }
}

function groupList(registry: Registry): object {
  const groups = groupsOf(registry).filter(({ name }) => name !== '')
  return { kind: 'APIGroupList', apiVersion: 'v1', groups: groups.map(apiGroup) }
}

function apiGroup({ name, versions }: Group): object {
  const named = [...versions.keys()].map(version => ({ groupVersion: `${name}/${version}`, version }))
  return { name, versions: named, preferredVersion: named[0] }
}

function resourceList(registry: Registry, group: string, version: string): ApiResponse | undefined {
  const resources = groupsOf(registry)
    .find(({ name }) => name === group)
    ?.versions.get(version)
  if (!resources) return undefined
  return json({
    kind: 'APIResourceList',
    ...(group && { apiVersion: 'v1' }),
    groupVersion: group ? `${group}/${version}` : version,
    resources: resources.sort((a, b) => (a.plural < b.plural ? -1 : 1)).flatMap(describeFlat),
  })
}

function describeFlat(resource: Resource): object[] {
  const { plural, singular, namespaced, kind, verbs, shortNames, categories } = resource
  const main = {
    name: plural,
    singularName: singular,
    namespaced,
    kind,
    verbs: verbsOf(resource),
    ...(shortNames.length > 0 && { shortNames }),
    ...(categories.length > 0 && { categories }),
    ...(verbs.includes('list') && { storageVersionHash: storageHash(resource) }),
  }
  const subresources = [...resource.subresources].map(([name, info]) => ({
    name: `${plural}/${name}`,
    singularName: '',
    namespaced,
    ...(info.group !== undefined && { group: info.group }),
    ...(info.version !== undefined && { version: info.version }),
    kind: info.kind,
    verbs: [...info.verbs].sort(),
  }))
  return [main, ...subresources]
}

/** The API server lists the verbs of custom kinds in this order. */
const customOrder = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch']

function verbsOf({ struct, verbs }: Resource): string[] {
  return struct ? [...verbs].sort() : customOrder.filter(verb => (verbs as readonly string[]).includes(verb))
}

function storageHash(resource: Resource): string {
  return createHash('sha256')
    .update(`${resource.group}/${resource.version}/${resource.kind}`)
    .digest()
    .subarray(0, 8)
    .toString('base64')
}

/** The aggregated form: all groups, versions and resources in one response, for clients that accept it. */
function aggregated(registry: Registry, request: ApiRequest, core: boolean): ApiResponse | undefined {
  const wish = parseAccept(request.headers.accept ?? '').find(
    ({ type, parameters }) =>
      type === 'application/json' &&
      parameters.g === 'apidiscovery.k8s.io' &&
      parameters.as === 'APIGroupDiscoveryList',
  )
  const version = wish?.parameters.v
  if (version !== 'v2' && version !== 'v2beta1') return undefined
  const groups = groupsOf(registry).filter(({ name }) => (name === '') === core)
  const body = JSON.stringify({
    kind: 'APIGroupDiscoveryList',
    apiVersion: `apidiscovery.k8s.io/${version}`,
    metadata: {},
    items: groups.map(({ name, versions }) => ({
      metadata: { ...(name && { name }), creationTimestamp: null },
      versions: [...versions].map(([name, resources]) => ({
        version: name,
        resources: resources.sort((a, b) => (a.plural < b.plural ? -1 : 1)).map(describeNested),
        freshness: 'Current',
      })),
    })),
  })
  const etag = `"${createHash('sha256').update(body).digest('hex').toUpperCase()}"`
  const type = `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`
  const headers = { 'content-type': type, etag, vary: 'Accept', 'cache-control': 'public' }
  if (request.headers['if-none-match'] === etag) return { status: 304, headers }
  return { status: 200, headers, body }
}

function describeNested(resource: Resource): object {
  const { plural, singular, namespaced, kind, shortNames, categories } = resource
  // Built-in kinds have the group and version they are listed under, and omit it.
  const own = resource.struct ? { group: '', version: '' } : resource
  const responseKind = (group: string, version: string, name: string) => ({ group, version, kind: name })
  return {
    resource: plural,
    responseKind: responseKind(own.group, own.version, kind),
    scope: namespaced ? 'Namespaced' : 'Cluster',
    singularResource: singular,
    verbs: verbsOf(resource),
    ...(shortNames.length > 0 && { shortNames }),
    ...(categories.length > 0 && { categories }),
    ...(resource.subresources.size > 0 && {
      subresources: [...resource.subresources].map(([name, info]) => ({
        subresource: name,
        responseKind: responseKind(info.group ?? own.group, info.version ?? own.version, info.kind),
        verbs: [...info.verbs].sort(),
      })),
    }),
  }
}

function rootPaths(registry: Registry): string[] {
  const groups = groupsOf(registry).filter(({ name }) => name !== '')
  return [
    '/api',
    '/api/v1',
    '/apis',
    ...groups
      .flatMap(({ name, versions }) => [
        `/apis/${name}`,
        ...[...versions.keys()].map(version => `/apis/${name}/${version}`),
      ])
      .sort(),
    '/healthz',
    '/livez',
    '/openapi/v2',
    '/openapi/v3',
    '/readyz',
    '/version',
  ]
}

function json(value: object): ApiResponse {
  return {
    status: 200,
    headers: { 'content-type': 'application/json', vary: 'Accept' },
    body: `${JSON.stringify(value)}\n`,
  }
}
