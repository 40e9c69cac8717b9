// SPDX-License-Identifier: Apache-2.0

import type { AccessAttributes } from '../server/authorization.ts'
import type { ApiRequest, UserInfo } from '../server/request.ts'
import { parseRequestInfo } from '../server/request-info.ts'
import { type ApiError, apiError } from '../server/status.ts'
import type { Access } from './access.ts'
import { rejectionOf } from './rbac.ts'
import { parseServiceAccountName, serviceAccountGroups } from './service-account-user.ts'

const extraPrefix = 'impersonate-extra-'
const anonymous = 'system:anonymous'

/** Reports whether the request has impersonation headers. Most requests do not. */
export function impersonates({ headers }: ApiRequest): boolean {
  return (
    headers['impersonate-user'] !== undefined ||
    headers['impersonate-group'] !== undefined ||
    headers['impersonate-uid'] !== undefined
  )
}

/** Returns the request with the impersonated user, if the requesting user may impersonate it. */
export async function impersonate(request: ApiRequest, decide: Access['decide']): Promise<ApiRequest> {
  const wanted = wantedIdentity(request.headers)
  if (!wanted) return request
  const { name, groups, uid, extra } = wanted
  if (!name) throw apiError.badRequest(`requested ${describe(wanted)} without impersonating a user name`)
  const account = parseServiceAccountName(name)
  for (const about of claimsOf(wanted)) {
    const attributes = { ...impersonation(request.user), ...about }
    const rejection = rejectionOf(attributes, await decide(attributes))
    if (rejection !== undefined) throw rejectionFor(request, wanted, attributes, rejection)
  }
  const known = account && groups.length === 0 ? serviceAccountGroups(account.namespace) : groups
  const user: UserInfo = {
    name,
    ...(uid && { uid }),
    groups: withAuthentication(name, known),
    ...(Object.keys(extra).length > 0 && { extra }),
  }
  return { ...request, user }
}

interface Wanted {
  readonly name: string
  readonly groups: readonly string[]
  readonly uid: string | undefined
  readonly extra: Readonly<Record<string, readonly string[]>>
}

function wantedIdentity(headers: ApiRequest['headers']): Wanted | undefined {
  const extra: Record<string, string[]> = {}
  for (const [header, value] of Object.entries(headers))
    if (header.startsWith(extraPrefix) && value !== undefined)
      extra[decodeKey(header.slice(extraPrefix.length))] = split(value)
  const name = headers['impersonate-user'] ?? ''
  const groups = split(headers['impersonate-group'] ?? '')
  const uid = headers['impersonate-uid']
  if (!name && groups.length === 0 && !uid && Object.keys(extra).length === 0) return undefined
  return { name, groups, uid, extra }
}

/** Transports join repeated headers with commas. */
function split(value: string): string[] {
  return value
    .split(',')
    .map(part => part.trim())
    .filter(part => part !== '')
}

function decodeKey(key: string): string {
  try {
    return decodeURIComponent(key)
  } catch {
    return key
  }
}

function withAuthentication(name: string, groups: readonly string[]): string[] {
  if (groups.includes('system:unauthenticated')) return [...groups]
  const group = name === anonymous ? 'system:unauthenticated' : 'system:authenticated'
  return groups.includes(group) ? [...groups] : [...groups, group]
}

/** All permissions that the impersonation needs. */
function claimsOf({ name, groups, uid, extra }: Wanted): Partial<AccessAttributes>[] {
  const account = parseServiceAccountName(name)
  const group = 'authentication.k8s.io'
  return [
    account ? { resource: 'serviceaccounts', ...account } : { resource: 'users', name },
    ...(uid ? [{ group, resource: 'uids', name: uid }] : []),
    ...groups.map(each => ({ resource: 'groups', name: each })),
    ...Object.entries(extra).flatMap(([subresource, values]) =>
      values.map(value => ({ group, resource: 'userextras', subresource, name: value })),
    ),
  ]
}

function impersonation(user: UserInfo): AccessAttributes {
  return {
    user,
    verb: 'impersonate',
    isResource: true,
    group: '',
    version: '',
    resource: '',
    subresource: '',
    namespace: '',
    name: '',
    path: '',
  }
}

/**
 * The real API server first checks constrained impersonation and reports the first rejection. This server
 * never allows constrained impersonation, but it returns the same message.
 */
function rejectionFor(
  { user, method, path, query }: ApiRequest,
  wanted: Wanted,
  attributes: AccessAttributes,
  rejection: string,
): ApiError {
  const mode = constrainedMode(wanted)
  const info = parseRequestInfo(method, path, query)
  if (!mode)
    return apiError.forbidden(
      { group: attributes.group, plural: attributes.resource },
      attributes.name,
      rejection,
    )
  const verb = `impersonate-on:${mode}:${info?.verb ?? method.toLowerCase()}`
  const about = { ...impersonation(user), path, ...info, verb, isResource: info !== undefined }
  const text = rejectionOf(about, { allowed: false, reason: '' })!
  return apiError.forbidden({ group: about.group, plural: about.resource }, about.name, text)
}

function constrainedMode({ name, groups, uid, extra }: Wanted): string | undefined {
  const nameOnly = groups.length === 0 && !uid && Object.keys(extra).length === 0
  if (parseServiceAccountName(name)) return nameOnly ? 'serviceaccount' : undefined
  if (name.startsWith('system:node:')) return nameOnly ? 'arbitrary-node' : undefined
  return 'user-info'
}

/** Formats the user like Go's `%v`. */
function describe({ uid, groups, extra }: Wanted): string {
  const list = (values: readonly string[]) =>
    `[]string{${values.map(value => JSON.stringify(value)).join(', ')}}`
  const keys = Object.entries(extra).map(([key, values]) => `${JSON.stringify(key)}:${list(values)}`)
  const shownGroups = groups.length > 0 ? list(groups) : '[]string(nil)'
  const shownExtra = keys.length > 0 ? `map[string][]string{${keys.join(', ')}}` : 'map[string][]string(nil)'
  return `&user.DefaultInfo{Name:"", UID:${JSON.stringify(uid ?? '')}, Groups:${shownGroups}, Extra:${shownExtra}}`
}
