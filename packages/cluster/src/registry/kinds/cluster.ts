// SPDX-License-Identifier: Apache-2.0

import type {
  AdmissionregistrationMutatingWebhookConfiguration,
  AdmissionregistrationValidatingWebhookConfiguration,
  CoordinationLease,
  DiscoveryEndpointSlice,
  NetworkingIngress,
  NetworkingNetworkPolicy,
  NodeRuntimeClass,
  PolicyPodDisruptionBudget,
  RbacClusterRole,
  RbacClusterRoleBinding,
  RbacRole,
  RbacRoleBinding,
  ResourceDeviceClass,
  ResourceResourceClaim,
  ResourceResourceClaimTemplate,
  ResourceResourceSlice,
  SchedulingPriorityClass,
  StorageStorageClass,
} from '../../schema/types.generated.ts'
import { type BuiltInKind, kind } from '../built-in.ts'
import {
  defaultEndpointSlice,
  defaultPriorityClass,
  defaultResourceClaim,
  defaultResourceClaimTemplate,
  defaultRoleBinding,
  defaultStorageClass,
  defaultWebhooks,
} from '../defaults/core.ts'
import {
  bindingStrategy,
  budgetStrategy,
  leaseStrategy,
  priorityClassStrategy,
} from '../strategies/policy.ts'
import {
  createdAtColumns,
  disruptionBudgetColumns,
  endpointSliceColumns,
  leaseColumns,
  priorityClassColumns,
  resourceClaimColumns,
  roleBindingColumns,
  storageClassColumns,
  webhookColumns,
} from '../tables/policy.ts'
import { validateDeviceClass, validateResourceSlice } from '../validation/device.ts'
import {
  validateClaim,
  validateClaimStatus,
  validateClaimTemplate,
  validateClaimTemplateUpdate,
  validateClaimUpdate,
} from '../validation/resource-claim.ts'
import { pathSegmentName } from '../validation/values.ts'
import { validateWebhooks } from '../validation/webhook.ts'

const rbac = 'rbac.authorization.k8s.io'
const admission = 'admissionregistration.k8s.io'
const dynamicResources = 'resource.k8s.io'
const webhookStrategy = {
  hasGeneration: true,
  requireResourceVersion: true,
  validate: validateWebhooks,
}
const roleStrategy = { createOnUpdate: true, nameRule: pathSegmentName }

export const clusterKinds: readonly BuiltInKind[] = [
  kind<RbacRole>({
    type: 'rbac/v1.Role',
    group: rbac,
    plural: 'roles',
    namespaced: true,
    strategy: roleStrategy,
    columns: createdAtColumns,
  }),
  kind<RbacClusterRole>({
    type: 'rbac/v1.ClusterRole',
    group: rbac,
    plural: 'clusterroles',
    namespaced: false,
    strategy: roleStrategy,
    columns: createdAtColumns,
  }),
  kind<RbacRoleBinding>({
    type: 'rbac/v1.RoleBinding',
    group: rbac,
    plural: 'rolebindings',
    namespaced: true,
    strategy: bindingStrategy,
    defaults: defaultRoleBinding,
    columns: roleBindingColumns,
  }),
  kind<RbacClusterRoleBinding>({
    type: 'rbac/v1.ClusterRoleBinding',
    group: rbac,
    plural: 'clusterrolebindings',
    namespaced: false,
    strategy: bindingStrategy,
    defaults: defaultRoleBinding,
    columns: roleBindingColumns,
  }),
  kind<CoordinationLease>({
    type: 'coordination/v1.Lease',
    group: 'coordination.k8s.io',
    plural: 'leases',
    namespaced: true,
    strategy: leaseStrategy,
    columns: leaseColumns,
  }),
  kind<DiscoveryEndpointSlice>({
    type: 'discovery/v1.EndpointSlice',
    group: 'discovery.k8s.io',
    plural: 'endpointslices',
    namespaced: true,
    strategy: { hasGeneration: true },
    defaults: defaultEndpointSlice,
    columns: endpointSliceColumns,
  }),
  kind<PolicyPodDisruptionBudget>({
    type: 'policy/v1.PodDisruptionBudget',
    group: 'policy',
    plural: 'poddisruptionbudgets',
    namespaced: true,
    shortNames: ['pdb'],
    strategy: budgetStrategy,
    columns: disruptionBudgetColumns,
  }),
  kind<SchedulingPriorityClass>({
    type: 'scheduling/v1.PriorityClass',
    group: 'scheduling.k8s.io',
    plural: 'priorityclasses',
    namespaced: false,
    shortNames: ['pc'],
    strategy: priorityClassStrategy,
    defaults: defaultPriorityClass,
    columns: priorityClassColumns,
  }),
  kind<AdmissionregistrationValidatingWebhookConfiguration>({
    type: 'admissionregistration/v1.ValidatingWebhookConfiguration',
    group: admission,
    plural: 'validatingwebhookconfigurations',
    namespaced: false,
    strategy: webhookStrategy,
    defaults: defaultWebhooks,
    columns: webhookColumns,
  }),
  kind<AdmissionregistrationMutatingWebhookConfiguration>({
    type: 'admissionregistration/v1.MutatingWebhookConfiguration',
    group: admission,
    plural: 'mutatingwebhookconfigurations',
    namespaced: false,
    strategy: webhookStrategy,
    defaults: defaultWebhooks,
    columns: webhookColumns,
  }),
  kind<ResourceResourceClaim>({
    type: 'resource/v1.ResourceClaim',
    group: dynamicResources,
    plural: 'resourceclaims',
    namespaced: true,
    strategy: {
      returnsDeleted: true,
      validate: validateClaim,
      validateUpdate: validateClaimUpdate,
      validateStatusUpdate: validateClaimStatus,
    },
    defaults: defaultResourceClaim,
    columns: resourceClaimColumns,
  }),
  kind<ResourceResourceClaimTemplate>({
    type: 'resource/v1.ResourceClaimTemplate',
    group: dynamicResources,
    plural: 'resourceclaimtemplates',
    namespaced: true,
    strategy: {
      returnsDeleted: true,
      validate: validateClaimTemplate,
      validateUpdate: validateClaimTemplateUpdate,
    },
    defaults: defaultResourceClaimTemplate,
  }),
  kind<ResourceDeviceClass>({
    type: 'resource/v1.DeviceClass',
    group: dynamicResources,
    plural: 'deviceclasses',
    namespaced: false,
    strategy: { returnsDeleted: true, hasGeneration: true, validate: validateDeviceClass },
  }),
  kind<ResourceResourceSlice>({
    type: 'resource/v1.ResourceSlice',
    group: dynamicResources,
    plural: 'resourceslices',
    namespaced: false,
    strategy: { returnsDeleted: true, hasGeneration: true, validate: validateResourceSlice },
    selectableFields: {
      'spec.nodeName': object => object.spec?.nodeName ?? '',
      'spec.driver': object => object.spec?.driver ?? '',
    },
  }),
  kind<StorageStorageClass>({
    type: 'storage/v1.StorageClass',
    group: 'storage.k8s.io',
    plural: 'storageclasses',
    namespaced: false,
    shortNames: ['sc'],
    strategy: { returnsDeleted: true },
    defaults: defaultStorageClass,
    columns: storageClassColumns,
  }),
  kind<NetworkingNetworkPolicy>({
    type: 'networking/v1.NetworkPolicy',
    group: 'networking.k8s.io',
    plural: 'networkpolicies',
    namespaced: true,
    shortNames: ['netpol'],
    strategy: { hasGeneration: true },
  }),
  kind<NetworkingIngress>({
    type: 'networking/v1.Ingress',
    group: 'networking.k8s.io',
    plural: 'ingresses',
    namespaced: true,
    shortNames: ['ing'],
    singular: 'ingress',
    strategy: { hasGeneration: true },
  }),
  kind<NodeRuntimeClass>({
    type: 'node/v1.RuntimeClass',
    group: 'node.k8s.io',
    plural: 'runtimeclasses',
    namespaced: false,
    strategy: { createOnUpdate: true, requireResourceVersion: true },
  }),
]
