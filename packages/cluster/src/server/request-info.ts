// SPDX-License-Identifier: Apache-2.0

import { parseFieldSelector } from '@grove/apimachinery'

export type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection'

/** A parsed path below /api or /apis. */
export interface RequestInfo {
  readonly verb: Verb
  readonly group: string
  readonly version: string
  readonly resource: string
  /** Empty for cluster-scoped objects and for lists across all namespaces. */
  readonly namespace: string
  readonly name: string
  readonly subresource: string
}

/** Returns undefined if the path names no resource: discovery, health, version and unknown paths. */
export function parseRequestInfo(
  method: string,
  path: string,
  query: URLSearchParams,
): RequestInfo | undefined {
  const parts = path.split('/').filter(part => part !== '')
  let group = ''
  let rest: string[]
  if (parts[0] === 'api') rest = parts.slice(1)
  else if (parts[0] === 'apis') {
    group = parts[1] ?? ''
    rest = parts.slice(2)
  } else return undefined
  const version = rest[0]
  if (!version || rest.length < 2) return undefined
  rest = rest.slice(1)
  const legacyWatch = rest[0] === 'watch' && rest.length > 1
  if (legacyWatch) rest = rest.slice(1)

  let namespace = ''
  // `namespaces/x` and its subresources refer to the namespace. Longer paths refer to objects in it.
  if (rest[0] === 'namespaces' && rest.length > 2 && !namespaceSubresources.has(rest[2]!)) {
    namespace = rest[1]!
    rest = rest.slice(2)
  }
  const [resource = '', name = '', ...sub] = rest
  if (sub.length > 1) return undefined
  const verb = verbOf(method, name, legacyWatch, query)
  return verb && { verb, group, version, resource, namespace, name, subresource: sub[0] ?? '' }
}

/**
 * A list or watch that selects one name is authorized as a request for that name. Empty for other requests.
 */
export function selectedName({ verb }: RequestInfo, query: URLSearchParams): string {
  if (verb !== 'list' && verb !== 'watch') return ''
  const parsed = parseFieldSelector(query.get('fieldSelector') ?? '')
  if (!parsed.ok) return ''
  const required = parsed.selector.find(({ field, negated }) => field === 'metadata.name' && !negated)
  return required && isPathSegment(required.value) ? required.value : ''
}

function isPathSegment(name: string): boolean {
  return name !== '.' && name !== '..' && !/[/%]/.test(name)
}

const namespaceSubresources = new Set(['status', 'finalize'])

function verbOf(
  method: string,
  name: string,
  legacyWatch: boolean,
  query: URLSearchParams,
): Verb | undefined {
  switch (method) {
    case 'GET':
    case 'HEAD':
      if (legacyWatch) return 'watch'
      if (name) return 'get'
      return isTrue(query.get('watch')) ? 'watch' : 'list'
    case 'POST':
      return 'create'
    case 'PUT':
      return 'update'
    case 'PATCH':
      return 'patch'
    case 'DELETE':
      return name ? 'delete' : 'deletecollection'
    default:
      return undefined
  }
}

/** Parses a boolean query parameter as the API does: present and neither "false" nor "0". */
export function isTrue(text: string | null): boolean {
  return text !== null && text !== 'false' && text !== '0'
}
