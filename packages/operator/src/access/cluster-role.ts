// SPDX-License-Identifier: Apache-2.0

// The exact permissions of the operator. Tests run it with this role and no others.
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
import { configurationNames } from '../admission/webhook-configurations.ts'

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
      ...(schedulers.has(scheduler.kubernetes) ? nativeGangRules : []),
      ...mnnvlRules,
      ...webhookRules(configuration),
      ...(configuration.server.metrics.secure ? metricsRules : []),
      ...(warnsAboutPlacement(configuration) ? [rule('', ['nodes'], ['list', 'watch'])] : []),
    ],
  }
}

const groveRules: PolicyRule[] = [
  rule(groveGroup, ['podcliquesets'], [...reading, 'patch']),
  rule(groveGroup, ['clustertopologybindings'], reading),
  rule(groveGroup, ['podcliques', 'podcliquescalinggroups'], keepingMany),
  rule(schedulerGroup, ['podgangs'], keepingMany),
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
  // OwnerReferencesPermissionEnforcement rejects owner references with blockOwnerDeletion without this permission.
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
  // The operator needs this only to grant it: the role of a set lets its startup waiters read the status of pods.
  rule('', ['pods/status'], reading),
  rule('', ['services'], keeping),
  rule('', ['serviceaccounts'], keeping),
  // Read by name, never listed or watched: the operator must not see Secrets of users.
  rule('', ['secrets'], ['create', 'get', 'delete']),
  rule('', ['events'], ['create', 'patch']),
  rule('rbac.authorization.k8s.io', ['roles', 'rolebindings'], keeping),
  rule('apps', ['controllerrevisions'], keeping),
  rule('autoscaling', ['horizontalpodautoscalers'], keeping),
  rule('resource.k8s.io', ['resourceclaims'], keeping),
  rule('resource.k8s.io', ['resourceclaimtemplates'], reading),
]

const kaiRules: PolicyRule[] = [
  // The garbage collector deletes them with the gang that owns them.
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

/** The garbage collector deletes them with the gang that owns them. */
const nativeGangRules: PolicyRule[] = [
  rule(
    'scheduling.k8s.io',
    ['workloads', 'podgroups', 'compositepodgroups'],
    [...reading, 'create', 'patch'],
  ),
]

/** Needed also while NVLink domains are disabled: existing domains carry the finalizer of the operator. */
const mnnvlRules: PolicyRule[] = [rule('resource.nvidia.com', ['computedomains'], keeping)]

/** By name only. The operator watches them in both certificate modes and writes them if it issues its certificates. */
function webhookRules({ server: { webhooks } }: OperatorConfiguration): PolicyRule[] {
  if (!webhooks.enabled) return []
  return [
    {
      apiGroups: ['admissionregistration.k8s.io'],
      resources: ['mutatingwebhookconfigurations', 'validatingwebhookconfigurations'],
      resourceNames: Object.values(configurationNames),
      verbs: webhooks.certProvisionMode === 'auto' ? [...reading, 'update'] : ['list', 'watch'],
    },
  ]
}

function warnsAboutPlacement({ server, placementWarnings }: OperatorConfiguration): boolean {
  return server.webhooks.enabled && placementWarnings.enabled
}

/** The API server decides through reviews which clients may read the metrics. */
const metricsRules: PolicyRule[] = [
  rule('authentication.k8s.io', ['tokenreviews'], ['create']),
  rule('authorization.k8s.io', ['subjectaccessreviews'], ['create']),
]

/** For the operator's own namespace: its lease and its certificate. */
export function operatorRole(namespace: string, configuration: OperatorConfiguration): Role {
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'Role',
    metadata: { name: 'grove:system:grove-operator-lease', namespace },
    rules: [
      // RBAC cannot restrict `create` by name, because the API server does not know the name yet.
      rule('coordination.k8s.io', ['leases'], ['create']),
      {
        ...rule('coordination.k8s.io', ['leases'], ['get', 'update']),
        resourceNames: [configuration.leaderElection.resourceName],
      },
      ...certificateRules(configuration),
    ],
  }
}

function certificateRules({ server: { webhooks, metrics } }: OperatorConfiguration): PolicyRule[] {
  if (webhooks.certProvisionMode !== 'auto' || !(webhooks.enabled || metrics.secure)) return []
  return [{ ...rule('', ['secrets'], [...reading, 'update']), resourceNames: [webhooks.secretName] }]
}

function rule(group: string, resources: string[], verbs: string[]): PolicyRule {
  return { apiGroups: [group], resources, verbs }
}
