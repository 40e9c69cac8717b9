// SPDX-License-Identifier: Apache-2.0

// Exactly what the gang scheduler may do.
import { type ClusterRole, groveGroup, type PolicyRule, schedulerGroup } from '@grove/api'

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
      rule('', ['nodes', 'namespaces', 'persistentvolumes', 'persistentvolumeclaims'], reading),
      rule('', ['pods'], [...reading, 'get', 'delete']),
      rule('', ['pods/binding'], ['create']),
      rule('', ['pods/status'], ['patch']),
      rule('scheduling.k8s.io', ['priorityclasses'], reading),
      rule('storage.k8s.io', ['storageclasses'], reading),
      rule('', ['events'], ['create', 'patch']),
      rule('events.k8s.io', ['events'], ['create', 'patch']),
    ],
  }
}

function rule(apiGroup: string, resources: string[], verbs: string[]): PolicyRule {
  return { apiGroups: [apiGroup], resources, verbs }
}
