// SPDX-License-Identifier: Apache-2.0

import { schedulerAccountName, schedulerClusterRole, schedulerRole } from '@grove/scheduler'
import { operatorNamespace } from './operator-process.ts'

const rbac = 'rbac.authorization.k8s.io'

/**
 * The service account of the gang scheduler in the namespace of the operator, with exactly the documented permissions.
 */
export function schedulerAccess(leaseName: string): object[] {
  const roles = [schedulerClusterRole(), schedulerRole(operatorNamespace, leaseName)]
  const subjects = [{ kind: 'ServiceAccount', name: schedulerAccountName, namespace: operatorNamespace }]
  return [
    {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: schedulerAccountName, namespace: operatorNamespace },
    },
    ...roles,
    ...roles.map(({ kind, metadata }) => ({
      apiVersion: `${rbac}/v1`,
      kind: `${kind}Binding`,
      metadata,
      roleRef: { apiGroup: rbac, kind, name: metadata.name },
      subjects,
    })),
  ]
}
