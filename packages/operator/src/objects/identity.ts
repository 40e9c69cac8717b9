// SPDX-License-Identifier: Apache-2.0

// The ServiceAccount of a set, its permission to watch pods, and its token. Startup waiters use them.
import {
  annotation,
  component,
  label,
  managedLabels,
  names,
  type Role,
  type RoleBinding,
  type Secret,
  type ServiceAccount,
} from '@grove/api'
import { controlledBy } from '../layout/owner.ts'
import type { StoredSet } from '../layout/stored.ts'

export function serviceAccount(set: StoredSet): ServiceAccount {
  const name = names.serviceAccount(set.metadata.name)
  return {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: metadata(set, name, component.serviceAccount, name),
    automountServiceAccountToken: true,
  }
}

export function podRole(set: StoredSet): Role {
  const name = names.podRole(set.metadata.name)
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'Role',
    metadata: metadata(set, name, component.role, names.podRoleLabel(set.metadata.name)),
    rules: [{ apiGroups: [''], resources: ['pods', 'pods/status'], verbs: ['get', 'list', 'watch'] }],
  }
}

export function podRoleBinding(set: StoredSet): RoleBinding {
  const name = names.podRole(set.metadata.name)
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata: metadata(set, name, component.roleBinding, names.podRoleLabel(set.metadata.name)),
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
    subjects: [
      {
        kind: 'ServiceAccount',
        name: names.serviceAccount(set.metadata.name),
        namespace: set.metadata.namespace,
      },
    ],
  }
}

/** The token controller of the cluster writes the token once the account exists. */
export function tokenSecret(set: StoredSet): Secret {
  const name = names.tokenSecret(set.metadata.name)
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      ...metadata(set, name, component.tokenSecret, name),
      annotations: { [annotation.serviceAccountName]: names.serviceAccount(set.metadata.name) },
    },
    type: 'kubernetes.io/service-account-token',
  }
}

function metadata(set: StoredSet, name: string, part: string, nameLabel: string) {
  return {
    name,
    namespace: set.metadata.namespace,
    labels: { ...managedLabels(set.metadata.name), [label.component]: part, [label.name]: nameLabel },
    ownerReferences: controlledBy(set),
  }
}
