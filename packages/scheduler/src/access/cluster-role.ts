// SPDX-License-Identifier: Apache-2.0

// The exact permissions of the gang scheduler.
import { type ClusterRole, groveGroup, type PolicyRule, type Role, schedulerGroup } from '@grove/api'

export const schedulerAccountName = 'grove-scheduler'

const reading = ['list', 'watch']

export function schedulerClusterRole(): ClusterRole {
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: 'grove:system:grove-scheduler' },
    rules: [
      rule(schedulerGroup, ['podgangs'], reading),
      rule(schedulerGroup, ['podgangs/status'], ['patch']),
      rule(groveGroup, ['clustertopologybindings'], reading),
      rule('', ['nodes', 'namespaces', 'persistentvolumes'], reading),
      // The patch selects the node of a volume that waits for its first consumer.
      rule('', ['persistentvolumeclaims'], [...reading, 'get', 'patch']),
      rule('', ['pods'], [...reading, 'get', 'delete']),
      rule('', ['pods/binding', 'pods/eviction'], ['create']),
      rule('', ['pods/status'], ['patch']),
      rule('scheduling.k8s.io', ['priorityclasses'], reading),
      rule('storage.k8s.io', ['storageclasses'], reading),
      rule('policy', ['poddisruptionbudgets'], reading),
      rule('resource.k8s.io', ['resourceslices', 'deviceclasses', 'resourceclaimtemplates'], reading),
      // The patch adds a finalizer to claims that are allocated.
      rule('resource.k8s.io', ['resourceclaims'], [...reading, 'get', 'patch']),
      // Since Kubernetes 1.36, changes of the allocation need the right to resourceclaims/binding too.
      rule('resource.k8s.io', ['resourceclaims/status', 'resourceclaims/binding'], ['patch']),
      rule('', ['events'], ['create', 'patch']),
    ],
  }
}

/** The permissions in the namespace of the scheduler: its Lease. */
export function schedulerRole(namespace: string, leaseName: string): Role {
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'Role',
    metadata: { name: 'grove:system:grove-scheduler-lease', namespace },
    rules: [
      rule('coordination.k8s.io', ['leases'], ['create']),
      { ...rule('coordination.k8s.io', ['leases'], ['get', 'update']), resourceNames: [leaseName] },
    ],
  }
}

function rule(apiGroup: string, resources: string[], verbs: string[]): PolicyRule {
  return { apiGroups: [apiGroup], resources, verbs }
}
