// SPDX-License-Identifier: Apache-2.0

import type {
  AdmissionregistrationMutatingWebhookConfiguration,
  ApiextensionsCustomResourceDefinition,
  Namespace,
  Node,
  Pod,
  PolicyPodDisruptionBudget,
  RbacClusterRole,
  RbacRole,
  RbacRoleBinding,
  SchedulingPriorityClass,
  Secret,
  Service,
  ServiceAccount,
} from '../schema/types.generated.ts'
import { storageOf } from '../store/index.ts'

/** The storages that the API server itself reads, with the types of their objects. */
export const storages = {
  clusterRoleBindings: storageOf<RbacRoleBinding>('clusterrolebindings.rbac.authorization.k8s.io'),
  clusterRoles: storageOf<RbacClusterRole>('clusterroles.rbac.authorization.k8s.io'),
  definitions: storageOf<ApiextensionsCustomResourceDefinition>(
    'customresourcedefinitions.apiextensions.k8s.io',
  ),
  disruptionBudgets: storageOf<PolicyPodDisruptionBudget>('poddisruptionbudgets.policy'),
  mutatingWebhooks: storageOf<AdmissionregistrationMutatingWebhookConfiguration>(
    'mutatingwebhookconfigurations.admissionregistration.k8s.io',
  ),
  namespaces: storageOf<Namespace>('namespaces'),
  nodes: storageOf<Node>('nodes'),
  pods: storageOf<Pod>('pods'),
  priorityClasses: storageOf<SchedulingPriorityClass>('priorityclasses.scheduling.k8s.io'),
  roleBindings: storageOf<RbacRoleBinding>('rolebindings.rbac.authorization.k8s.io'),
  roles: storageOf<RbacRole>('roles.rbac.authorization.k8s.io'),
  secrets: storageOf<Secret>('secrets'),
  serviceAccounts: storageOf<ServiceAccount>('serviceaccounts'),
  services: storageOf<Service>('services'),
  /** Validating webhooks have no reinvocation policy; otherwise the two kinds have the same fields. */
  validatingWebhooks: storageOf<AdmissionregistrationMutatingWebhookConfiguration>(
    'validatingwebhookconfigurations.admissionregistration.k8s.io',
  ),
} as const
