// SPDX-License-Identifier: Apache-2.0

// Every kind of object that the operator reads or writes.
import {
  type ClusterTopologyBinding,
  type ControllerRevision,
  type HorizontalPodAutoscaler,
  kinds,
  type Pod,
  type PodClique,
  type PodCliqueScalingGroup,
  type PodCliqueSet,
  type PodGang,
  type ResourceClaim,
  type ResourceClaimTemplate,
  type Role,
  type RoleBinding,
  type Secret,
  type Service,
  type ServiceAccount,
} from '@grove/api'
import { defineResource, type KubeObject } from '@grove/kube'
import type { ComputeDomain } from '../objects/compute-domain.ts'
import type { KaiTopology } from '../objects/kai-topology.ts'

const core = (resource: string, kind: string) => ({
  group: '',
  version: 'v1',
  resource,
  kind,
  namespaced: true,
})
const rbac = (resource: string, kind: string) => ({
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  resource,
  kind,
  namespaced: true,
})
const devices = (resource: string, kind: string) => ({
  group: 'resource.k8s.io',
  version: 'v1',
  resource,
  kind,
  namespaced: true,
})

const podGroups = (group: string, version: string) =>
  defineResource<KubeObject>({ group, version, resource: 'podgroups', kind: 'PodGroup', namespaced: true })

export const resources = {
  podCliqueSets: defineResource<PodCliqueSet>(kinds.podCliqueSet),
  podCliqueScalingGroups: defineResource<PodCliqueScalingGroup>(kinds.podCliqueScalingGroup),
  podCliques: defineResource<PodClique>(kinds.podClique),
  podGangs: defineResource<PodGang>(kinds.podGang),
  clusterTopologyBindings: defineResource<ClusterTopologyBinding>(kinds.clusterTopologyBinding),
  pods: defineResource<Pod>(core('pods', 'Pod')),
  services: defineResource<Service>(core('services', 'Service')),
  serviceAccounts: defineResource<ServiceAccount>(core('serviceaccounts', 'ServiceAccount')),
  secrets: defineResource<Secret>(core('secrets', 'Secret')),
  roles: defineResource<Role>(rbac('roles', 'Role')),
  roleBindings: defineResource<RoleBinding>(rbac('rolebindings', 'RoleBinding')),
  autoscalers: defineResource<HorizontalPodAutoscaler>({
    group: 'autoscaling',
    version: 'v2',
    resource: 'horizontalpodautoscalers',
    kind: 'HorizontalPodAutoscaler',
    namespaced: true,
  }),
  controllerRevisions: defineResource<ControllerRevision>({
    group: 'apps',
    version: 'v1',
    resource: 'controllerrevisions',
    kind: 'ControllerRevision',
    namespaced: true,
  }),
  resourceClaims: defineResource<ResourceClaim>(devices('resourceclaims', 'ResourceClaim')),
  resourceClaimTemplates: defineResource<ResourceClaimTemplate>(
    devices('resourceclaimtemplates', 'ResourceClaimTemplate'),
  ),
  kaiTopologies: defineResource<KaiTopology>({
    group: 'kai.scheduler',
    version: 'v1alpha1',
    resource: 'topologies',
    kind: 'Topology',
    namespaced: false,
  }),
  kaiPodGroups: podGroups('scheduling.run.ai', 'v2alpha2'),
  volcanoPodGroups: podGroups('scheduling.volcano.sh', 'v1beta1'),
  computeDomains: defineResource<ComputeDomain>({
    group: 'resource.nvidia.com',
    version: 'v1beta1',
    resource: 'computedomains',
    kind: 'ComputeDomain',
    namespaced: true,
  }),
} as const
