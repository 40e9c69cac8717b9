// SPDX-License-Identifier: Apache-2.0

// Exactly what the operator may do. It is tested with these rights and no others.
import {
  type ClusterRole,
  enabledSchedulers,
  groveGroup,
  type OperatorConfiguration,
  type PolicyRule,
  type Role,
  scheduler,
  schedulerGroup,
} from '@grove/api'

const everything = ['create', 'get', 'list', 'watch', 'patch', 'update', 'delete', 'deletecollection']
const reading = ['get', 'list', 'watch']

export function operatorClusterRole(configuration: OperatorConfiguration): ClusterRole {
  const schedulers = enabledSchedulers(configuration)
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: 'grove:system:grove-operator' },
    rules: [
      ...groveRules,
      ...workloadRules,
      ...(schedulers.has(scheduler.kai) ? kaiRules : []),
      ...(schedulers.has(scheduler.volcano) ? volcanoRules : []),
      ...mnnvlRules,
    ],
  }
}

const groveRules: PolicyRule[] = [
  rule(groveGroup, ['podcliquesets', 'clustertopologybindings'], [...reading, 'patch', 'update']),
  rule(groveGroup, ['podcliques', 'podcliquescalinggroups'], everything),
  rule(schedulerGroup, ['podgangs'], everything),
  rule(
    groveGroup,
    [
      'podcliquesets/status',
      'podcliques/status',
      'podcliquescalinggroups/status',
      'clustertopologybindings/status',
    ],
    ['get', 'patch', 'update'],
  ),
  rule(schedulerGroup, ['podgangs/status'], ['get', 'patch', 'update']),
  // Owner references that block deletion are refused without it on clusters that check them.
  rule(
    groveGroup,
    [
      'podcliquesets/finalizers',
      'podcliques/finalizers',
      'podcliquescalinggroups/finalizers',
      'clustertopologybindings/finalizers',
    ],
    ['update'],
  ),
  rule(schedulerGroup, ['podgangs/finalizers'], ['update']),
]

const workloadRules: PolicyRule[] = [
  rule('', ['pods'], everything),
  // Held only to be granted: the role of a set lets its waiters read them.
  rule('', ['pods/status'], reading),
  rule('', ['services'], everything),
  rule('', ['serviceaccounts'], [...reading, 'create', 'patch', 'delete']),
  // By name, never listed or watched: the Secrets of others are not ours to know.
  rule('', ['secrets'], ['create', 'get', 'delete']),
  rule('', ['events'], ['create', 'patch']),
  rule('rbac.authorization.k8s.io', ['roles', 'rolebindings'], [...reading, 'create', 'patch', 'delete']),
  rule('apps', ['controllerrevisions'], [...reading, 'create', 'patch', 'delete']),
  rule('autoscaling', ['horizontalpodautoscalers'], everything),
  rule('resource.k8s.io', ['resourceclaims'], everything),
  rule('resource.k8s.io', ['resourceclaimtemplates'], reading),
  {
    apiGroups: ['admissionregistration.k8s.io'],
    resources: ['mutatingwebhookconfigurations', 'validatingwebhookconfigurations'],
    resourceNames: [
      'podcliqueset-defaulting-webhook',
      'podcliqueset-validating-webhook',
      'clustertopology-validating-webhook',
      'authorizer-webhook',
    ],
    verbs: ['get', 'update'],
  },
]

const kaiRules: PolicyRule[] = [
  rule('scheduling.run.ai', ['podgroups'], [...reading, 'create', 'patch', 'update', 'delete']),
  rule('kai.scheduler', ['topologies'], [...reading, 'create', 'patch', 'update', 'delete']),
]

const volcanoRules: PolicyRule[] = [
  rule('scheduling.volcano.sh', ['podgroups'], [...reading, 'create', 'patch', 'update', 'delete']),
  rule('scheduling.volcano.sh', ['queues'], reading),
  {
    ...rule('apiextensions.k8s.io', ['customresourcedefinitions'], ['get']),
    resourceNames: ['podgroups.scheduling.volcano.sh'],
  },
]

/** Also while NVLink domains are switched off: those of sets that have them carry our finalizer. */
const mnnvlRules: PolicyRule[] = [
  rule('resource.nvidia.com', ['computedomains'], [...reading, 'create', 'patch', 'update', 'delete']),
]

/** In the operator's own namespace: its lease and its certificate. */
export function operatorRole(namespace: string, configuration: OperatorConfiguration): Role {
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'Role',
    metadata: { name: 'grove:system:grove-operator-lease', namespace },
    rules: [
      rule('coordination.k8s.io', ['leases'], ['create', 'get', 'update', 'patch']),
      {
        ...rule('', ['secrets'], ['get', 'update']),
        resourceNames: [configuration.server.webhooks.secretName],
      },
    ],
  }
}

function rule(group: string, resources: string[], verbs: string[]): PolicyRule {
  return { apiGroups: [group], resources, verbs }
}
