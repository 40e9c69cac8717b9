// SPDX-License-Identifier: Apache-2.0

import type { UserInfo } from '../server/request.ts'

const prefix = 'system:serviceaccount:'

export function serviceAccountName(namespace: string, name: string): string {
  return `${prefix}${namespace}:${name}`
}

/** Undefined when the user is no service account. */
export function parseServiceAccountName(user: string): { namespace: string; name: string } | undefined {
  if (!user.startsWith(prefix)) return undefined
  const [namespace, name, ...rest] = user.slice(prefix.length).split(':')
  return namespace && name && rest.length === 0 ? { namespace, name } : undefined
}

export function serviceAccountGroups(namespace: string): string[] {
  return ['system:serviceaccounts', `system:serviceaccounts:${namespace}`]
}

/** Who a service account is to the API: what its token, or a pod that runs as it, is allowed to do. */
export function serviceAccountUser(namespace: string, name: string, uid?: string): UserInfo {
  return {
    name: serviceAccountName(namespace, name),
    ...(uid && { uid }),
    groups: [...serviceAccountGroups(namespace), 'system:authenticated'],
  }
}
