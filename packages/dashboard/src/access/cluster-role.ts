// SPDX-License-Identifier: Apache-2.0

// The exact permissions of the dashboard: it reads the kinds that it shows.
import { type ClusterRole, groveGroup, schedulerGroup } from '@grove/api'

const reading = ['get', 'list', 'watch']

export function dashboardClusterRole(): ClusterRole {
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: 'grove:system:grove-dashboard' },
    rules: [
      {
        apiGroups: [groveGroup],
        resources: ['podcliquesets', 'podcliquescalinggroups', 'podcliques', 'clustertopologybindings'],
        verbs: reading,
      },
      { apiGroups: [schedulerGroup], resources: ['podgangs'], verbs: reading },
      { apiGroups: [''], resources: ['pods', 'nodes', 'events'], verbs: reading },
    ],
  }
}
