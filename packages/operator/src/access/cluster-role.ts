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

const reading = ['get', 'list', 'watch']
const keeping = [...reading, 'create', 'patch', 'delete']
const keepingMany = [...keeping, 'deletecollection']

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
  rule(groveGroup, ['podcliquesets'], [...reading, 'patch']),
  rule(groveGroup, ['clustertopologybindings'], reading),
  rule(groveGroup, ['podcliques', 'podcliquescalinggroups'], keepingMany),
  rule(
    schedulerGroup,
    ['podgangs'],
    keepingMany.filter(verb => verb !== 'get'),
  ),
  rule(
    groveGroup,
    [
      'podcliquesets/status',
      'podcliques/status',
      'podcliquescalinggroups/status',
      'clustertopologybindings/status',
    ],
    ['patch'],
  ),
  rule(schedulerGroup, ['podgangs/status'], ['patch']),
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
  rule('', ['pods'], keepingMany),
  // Held only to be granted: the role of a set lets its waiters read them.
  rule('', ['pods/status'], reading),
  rule('', ['services'], keepingMany),
  rule('', ['serviceaccounts'], keeping),
  // By name, never listed or watched: the Secrets of others are not ours to know.
  rule('', ['secrets'], ['create', 'get', 'delete']),
  rule('', ['events'], ['create', 'patch']),
  rule('rbac.authorization.k8s.io', ['roles', 'rolebindings'], keeping),
  rule('apps', ['controllerrevisions'], keeping),
  rule('autoscaling', ['horizontalpodautoscalers'], keepingMany),
  rule('resource.k8s.io', ['resourceclaims'], keeping),
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
  // They go with the gang that owns them.
  rule('scheduling.run.ai', ['podgroups'], [...reading, 'create', 'patch']),
  rule('kai.scheduler', ['topologies'], [...reading, 'create', 'delete']),
]

const volcanoRules: PolicyRule[] = [
  rule('scheduling.volcano.sh', ['podgroups'], [...reading, 'create', 'patch']),
  rule('scheduling.volcano.sh', ['queues'], ['get']),
  {
    ...rule('apiextensions.k8s.io', ['customresourcedefinitions'], ['get']),
    resourceNames: ['podgroups.scheduling.volcano.sh'],
  },
]

/** Also while NVLink domains are switched off: those of sets that have them carry our finalizer. */
const mnnvlRules: PolicyRule[] = [rule('resource.nvidia.com', ['computedomains'], keeping)]

/** In the operator's own namespace: its lease and its certificate. */
export function operatorRole(namespace: string, configuration: OperatorConfiguration): Role {
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'Role',
    metadata: { name: 'grove:system:grove-operator-lease', namespace },
    rules: [
      rule('coordination.k8s.io', ['leases'], ['create', 'get', 'update']),
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
