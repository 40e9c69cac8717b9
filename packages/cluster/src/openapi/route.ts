// SPDX-License-Identifier: Apache-2.0

import { createHash } from 'node:crypto'
import type { Registry } from '../registry/registry.ts'
import type { Resource } from '../registry/resource.ts'
import { apiVersionOf } from '../server/presentation.ts'
import type { ApiRequest, ApiResponse } from '../server/request.ts'
import { document2, document3 } from './document.ts'

/** Serves /openapi/v2 (JSON) and /openapi/v3. Documents are made when asked for and kept until kinds change. */
export function openApiRoute(registry: Registry): (request: ApiRequest) => ApiResponse | undefined {
  let seen = -1
  const documents = new Map<string, string>()
  const documentOf = (name: string, make: () => object): string => {
    if (registry.changes !== seen) {
      documents.clear()
      seen = registry.changes
    }
    const known = documents.get(name)
    if (known !== undefined) return known
    const text = JSON.stringify(make())
    documents.set(name, text)
    return text
  }
  return ({ method, path, headers }) => {
    if (method !== 'GET' || !path.startsWith('/openapi/')) return undefined
    if (path === '/openapi/v2') {
      if (headers.accept?.includes('protobuf') && !headers.accept.includes('json'))
        return { status: 406, headers: {}, body: '' }
      return json(documentOf('v2', () => document2([...registry.all()])))
    }
    const groups = byVersion(registry)
    if (path === '/openapi/v3' || path === '/openapi/v3/')
      return json(
        JSON.stringify({
          paths: index(groups, name => documentOf(name, () => document3(groups.get(name)!))),
        }),
      )
    const name = path.slice('/openapi/v3/'.length)
    const resources = groups.get(name)
    return resources && json(documentOf(name, () => document3(resources)))
  }
}

/** `api/v1`, `apis/apps/v1` → what is served there. */
function byVersion(registry: Registry): Map<string, Resource[]> {
  const groups = new Map<string, Resource[]>()
  for (const resource of registry.all()) {
    const name = `${resource.group ? 'apis' : 'api'}/${apiVersionOf(resource)}`
    groups.set(name, [...(groups.get(name) ?? []), resource])
  }
  return groups
}

function index(
  groups: ReadonlyMap<string, unknown>,
  documentOf: (name: string) => string,
): Record<string, object> {
  const entry = (name: string) => {
    const hash = createHash('sha512').update(documentOf(name)).digest('hex').toUpperCase()
    return { serverRelativeURL: `/openapi/v3/${name}?hash=${hash}` }
  }
  return Object.fromEntries([...groups.keys()].map(name => [name, entry(name)]))
}

function json(body: string): ApiResponse {
  return { status: 200, headers: { 'content-type': 'application/json', vary: 'Accept' }, body }
}
