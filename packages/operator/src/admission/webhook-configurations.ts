// SPDX-License-Identifier: Apache-2.0

// The webhook configurations that register the webhooks with the API server.
import {
  groveGroup,
  kinds,
  label,
  type MutatingWebhookConfiguration,
  type OperatorConfiguration,
  operatorName,
  type RuleWithOperations,
  schedulerGroup,
  type ValidatingWebhookConfiguration,
} from '@grove/api'
import { placementTimeoutSeconds, warningTimeoutSeconds, webhookTimeoutSeconds } from '../timings/timings.ts'
import { webhookPaths } from './webhook-rules.ts'

/** The names are part of the contract: upgrades, certificate injectors and administrators refer to them. */
export const configurationNames = {
  defaulting: 'podcliqueset-defaulting-webhook',
  validating: 'podcliqueset-validating-webhook',
  topology: 'clustertopology-validating-webhook',
  authorizer: 'authorizer-webhook',
} as const

export interface WebhookService {
  readonly namespace: string
  readonly name?: string
  readonly port: number
}

/** The chart renders it only if the configuration enables it. */
const placementWebhookName = 'pcs.placement.webhooks.grove.io'

export function webhookConfigurations(
  service: WebhookService,
  { authorizer, placementWarnings }: Pick<OperatorConfiguration, 'authorizer' | 'placementWarnings'>,
): (MutatingWebhookConfiguration | ValidatingWebhookConfiguration)[] {
  const entry = (name: string, path: string, rules: RuleWithOperations[]) => ({
    name,
    admissionReviewVersions: ['v1'],
    clientConfig: {
      service: { name: service.name ?? operatorName, namespace: service.namespace, path, port: service.port },
    },
    failurePolicy: 'Fail' as const,
    matchPolicy: 'Exact' as const,
    namespaceSelector: {},
    rules,
    sideEffects: 'None' as const,
    timeoutSeconds: webhookTimeoutSeconds,
  })
  const sets = [rule(groveGroup, 'v1alpha1', [kinds.podCliqueSet.resource], ['CREATE', 'UPDATE'])]
  const bindings = [
    rule(groveGroup, 'v1alpha1', [kinds.clusterTopologyBinding.resource], ['CREATE', 'UPDATE'], 'Cluster'),
  ]
  return [
    {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'MutatingWebhookConfiguration',
      metadata: { name: configurationNames.defaulting },
      webhooks: [entry('pcs.defaulting.webhooks.grove.io', webhookPaths.defaultPodCliqueSet, sets)],
    },
    {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingWebhookConfiguration',
      metadata: { name: configurationNames.validating },
      webhooks: [
        entry('pcs.validating.webhooks.grove.io', webhookPaths.validatePodCliqueSet, sets),
        {
          ...entry('pclq.scaling.webhooks.grove.io', webhookPaths.warnAboutScaling, [
            rule(groveGroup, 'v1alpha1', [podCliques, `${podCliques}/scale`], ['UPDATE']),
          ]),
          // This webhook only warns. Scaling must work, without a long timeout, while the operator is down: see
          // decision 21.
          failurePolicy: 'Ignore' as const,
          timeoutSeconds: warningTimeoutSeconds,
          // Most updates come from the operator, and it never changes the replicas of an existing clique.
          matchConditions: [{ name: 'changes-replicas', expression: changesReplicas }],
        },
        ...(placementWarnings.enabled
          ? [
              {
                ...entry(placementWebhookName, webhookPaths.warnAboutPlacement, sets),
                // A failing webhook must not reject the request.
                failurePolicy: 'Ignore' as const,
                timeoutSeconds: placementTimeoutSeconds,
              },
            ]
          : []),
      ],
    },
    {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingWebhookConfiguration',
      metadata: { name: configurationNames.topology },
      webhooks: [
        entry('clustertopology.validating.webhooks.grove.io', webhookPaths.validateClusterTopology, bindings),
      ],
    },
    ...(authorizer.enabled
      ? [
          {
            apiVersion: 'admissionregistration.k8s.io/v1' as const,
            kind: 'ValidatingWebhookConfiguration' as const,
            metadata: { name: configurationNames.authorizer },
            webhooks: [
              {
                ...entry('authorizer.webhooks.grove.io', webhookPaths.authorizer, protectedRules),
                objectSelector: { matchLabels: { [label.managedBy]: operatorName } },
              },
            ],
          },
        ]
      : []),
  ]
}

const podCliques = kinds.podClique.resource

/** The JSON of a Scale omits a replica count of zero. */
const changesReplicas = (['object', 'oldObject'] as const)
  .map(each => `(has(${each}.spec.replicas) ? ${each}.spec.replicas : 0)`)
  .join(' != ')

/** The managed resources, which users must not change. RBAC alone decides about deleting pods. */
const protectedRules: RuleWithOperations[] = [
  rule('', 'v1', ['secrets', 'serviceaccounts', 'services'], ['UPDATE', 'DELETE']),
  rule('', 'v1', ['pods'], ['UPDATE']),
  rule('rbac.authorization.k8s.io', 'v1', ['roles', 'rolebindings'], ['UPDATE', 'DELETE']),
  {
    ...rule('autoscaling', 'v1', ['horizontalpodautoscalers'], ['UPDATE', 'DELETE']),
    apiVersions: ['v1', 'v2'],
  },
  rule(
    groveGroup,
    'v1alpha1',
    [kinds.podClique.resource, kinds.podCliqueScalingGroup.resource],
    ['CREATE', 'UPDATE', 'DELETE'],
  ),
  // The status of PodGangs is left out, because schedulers write it. So is every scale subresource, because users do.
  rule(
    groveGroup,
    'v1alpha1',
    [`${kinds.podClique.resource}/status`, `${kinds.podCliqueScalingGroup.resource}/status`],
    ['UPDATE'],
  ),
  rule(schedulerGroup, 'v1alpha1', [kinds.podGang.resource], ['CREATE', 'UPDATE', 'DELETE']),
  // Deletion only: kube-scheduler, the controllers of Kubernetes and drivers add their finalizers to these objects,
  // under names that are not exempt. Their specs are immutable anyway. Without these APIs the rules match nothing.
  rule('resource.k8s.io', 'v1', ['resourceclaims'], ['DELETE']),
  rule('resource.nvidia.com', 'v1beta1', ['computedomains'], ['DELETE']),
]

function rule(
  group: string,
  version: string,
  resources: string[],
  operations: string[],
  scope: 'Namespaced' | 'Cluster' = 'Namespaced',
): RuleWithOperations {
  return { apiGroups: [group], apiVersions: [version], resources, operations, scope }
}
