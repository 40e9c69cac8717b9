// SPDX-License-Identifier: Apache-2.0

import { createHash } from 'node:crypto'
import type { Registry } from '../registry/registry.ts'
import type { Resource } from '../registry/resource.ts'
import { apiVersionOf } from '../server/presentation.ts'
import type { ApiRequest, ApiResponse } from '../server/request.ts'
import { document2, document3 } from './document.ts'
import { encodeDocument2 } from './protobuf.ts'

/** Serves /openapi/v2 and /openapi/v3. Documents are built on request and cached until kinds change. */
export function openApiRoute(registry: Registry): (request: ApiRequest) => ApiResponse | undefined {
  let seen = -1
  const documents = new Map<string, string | Uint8Array>()
  const kept = <T extends string | Uint8Array>(name: string, make: () => T): T => {
    if (registry.changes !== seen) {
      documents.clear()
      seen = registry.changes
    }
    const known = documents.get(name)
    if (known !== undefined) return known as T
    const document = make()
    documents.set(name, document)
    return document
  }
  const documentOf = (name: string, make: () => object) => kept(name, () => JSON.stringify(make()))
  return ({ method, path, headers }) => {
    if (method !== 'GET' || !path.startsWith('/openapi/')) return undefined
    if (path === '/openapi/v2') {
      if (wantsProtobuf(headers.accept ?? ''))
        return {
          status: 200,
          headers: { 'content-type': protobufType, vary: 'Accept' },
          bytes: kept('v2 protobuf', () => encodeDocument2(document2([...registry.all()]))),
        }
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

const protobufType = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf'

/** Reports whether the client prefers protobuf, by its current or its former media type. */
function wantsProtobuf(accept: string): boolean {
  const [first = ''] = accept.split(/[,;]/)
  return first.trim().replace('@', '.') === protobufType
}

/** `api/v1`, `apis/apps/v1` → the resources of that version. */
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
