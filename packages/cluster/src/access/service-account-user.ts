// SPDX-License-Identifier: Apache-2.0

import type { UserInfo } from '../server/request.ts'

const prefix = 'system:serviceaccount:'

export function serviceAccountName(namespace: string, name: string): string {
  return `${prefix}${namespace}:${name}`
}

/** Returns undefined if the user is not a service account. */
export function parseServiceAccountName(user: string): { namespace: string; name: string } | undefined {
  if (!user.startsWith(prefix)) return undefined
  const [namespace, name, ...rest] = user.slice(prefix.length).split(':')
  return namespace && name && rest.length === 0 ? { namespace, name } : undefined
}

export function serviceAccountGroups(namespace: string): string[] {
  return ['system:serviceaccounts', `system:serviceaccounts:${namespace}`]
}

/** The user that a service account authenticates as. */
export function serviceAccountUser(namespace: string, name: string, uid?: string): UserInfo {
  return {
    name: serviceAccountName(namespace, name),
    ...(uid && { uid }),
    groups: [...serviceAccountGroups(namespace), 'system:authenticated'],
  }
}
