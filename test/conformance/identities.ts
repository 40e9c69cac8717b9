// SPDX-License-Identifier: Apache-2.0

// Users of the cases, and their permissions.
import assert from 'node:assert/strict'
import type { CallOptions, Response } from './http.ts'
import type { Fixture } from './suite.ts'

export const rbacVersion = 'rbac.authorization.k8s.io/v1'

/** A client of the administrator that impersonates a user. */
export function as(user: string, ...groups: string[]): CallOptions {
  return {
    headers: {
      'impersonate-user': user,
      ...(groups.length > 0 && { 'impersonate-group': groups }),
    },
  }
}

export interface Rule {
  readonly verbs: readonly string[]
  readonly apiGroups?: readonly string[]
  readonly resources?: readonly string[]
  readonly resourceNames?: readonly string[]
  readonly nonResourceURLs?: readonly string[]
}

export const readMaps: Rule = { verbs: ['get', 'list'], apiGroups: [''], resources: ['configmaps'] }

export const role = (name: string, ...rules: Rule[]) => ({
  apiVersion: rbacVersion,
  kind: 'Role',
  metadata: { name },
  rules,
})

export const roleBinding = (name: string, roleName: string, subject: object, kind = 'Role') => ({
  apiVersion: rbacVersion,
  kind: 'RoleBinding',
  metadata: { name },
  subjects: [subject],
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind, name: roleName },
})

export const user = (name: string) => ({ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name })

/** Grants a subject a permission in the namespace of the case. */
export async function grant({ http, group }: Fixture, subject: object, ...rules: Rule[]): Promise<void> {
  assert.equal((await http.post(group(rbacVersion, 'roles'), role('granted', ...rules))).status, 201)
  const bound = await http.post(
    group(rbacVersion, 'rolebindings'),
    roleBinding('granted', 'granted', subject),
  )
  assert.equal(bound.status, 201)
}

export const allowed = (response: Response) => response.status !== 403
