// SPDX-License-Identifier: Apache-2.0

import type { AccessAttributes } from '../server/authorization.ts'
import type { ApiRequest, UserInfo } from '../server/request.ts'
import { refuse } from '../server/status.ts'
import { type Decide, refusalOf } from './rbac.ts'
import { parseServiceAccountName, serviceAccountGroups } from './service-account-user.ts'

const extraPrefix = 'impersonate-extra-'
const anonymous = 'system:anonymous'

/** The request as the one that it says it stands for, if its user may do that. */
export function impersonate(request: ApiRequest, decide: Decide): ApiRequest {
  const { headers } = request
  const wanted = wantedIdentity(headers)
  if (!wanted) return request
  const { name, groups, uid, extra } = wanted
  if (!name)
    throw refuse.internal(
      `requested ${JSON.stringify(groups)} groups, ${JSON.stringify(extra)} extra, ${JSON.stringify(uid ?? '')} uid without impersonating a user name`,
    )
  const account = parseServiceAccountName(name)
  const check = (about: Partial<AccessAttributes>) => checkAccess(request.user, decide, about)
  if (account) check({ resource: 'serviceaccounts', ...account })
  else check({ resource: 'users', name })
  for (const group of groups) check({ resource: 'groups', name: group })
  for (const [key, values] of Object.entries(extra))
    for (const value of values)
      check({ group: 'authentication.k8s.io', resource: 'userextras', subresource: key, name: value })
  if (uid) check({ group: 'authentication.k8s.io', resource: 'uids', name: uid })
  const known = account && groups.length === 0 ? serviceAccountGroups(account.namespace) : groups
  const user: UserInfo = {
    name,
    ...(uid && { uid }),
    groups: withAuthentication(name, known),
    ...(Object.keys(extra).length > 0 && { extra }),
  }
  return { ...request, user }
}

function wantedIdentity(headers: ApiRequest['headers']) {
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

/** Fronts join repeated headers. */
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

function checkAccess(user: UserInfo, decide: Decide, about: Partial<AccessAttributes>): void {
  const attributes: AccessAttributes = {
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
    ...about,
  }
  const refusal = refusalOf(attributes, decide(attributes))
  if (refusal !== undefined)
    throw refuse.forbidden(
      { group: attributes.group, plural: attributes.resource },
      attributes.name,
      refusal,
    )
}
