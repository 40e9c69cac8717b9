// SPDX-License-Identifier: Apache-2.0

// Every kind of object that the operator reads or writes.
import type {
  ClusterTopologyBinding,
  ControllerRevision,
  HorizontalPodAutoscaler,
  Node,
  Pod,
  PodClique,
  PodCliqueScalingGroup,
  PodCliqueSet,
  PodGang,
  ResourceClaim,
  ResourceClaimTemplate,
  Role,
  RoleBinding,
  Secret,
  Service,
  ServiceAccount,
} from '@grove/api'
import { kinds } from '@grove/api/constants'
import { defineResource, type Resource } from '@grove/kube/client'
import type { ComputeDomain } from '../objects/compute-domain.ts'
import type { KaiTopology } from '../objects/kai-topology.ts'
import type { SchedulerObject } from '../schedulers/backend.ts'

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
  defineResource<SchedulerObject>({
    group,
    version,
    resource: 'podgroups',
    kind: 'PodGroup',
    namespaced: true,
  })

export const resources = {
  podCliqueSets: defineResource<PodCliqueSet>(kinds.podCliqueSet),
  podCliqueScalingGroups: defineResource<PodCliqueScalingGroup>(kinds.podCliqueScalingGroup),
  podCliques: defineResource<PodClique>(kinds.podClique),
  podGangs: defineResource<PodGang>(kinds.podGang),
  clusterTopologyBindings: defineResource<ClusterTopologyBinding>(kinds.clusterTopologyBinding),
  pods: defineResource<Pod>(core('pods', 'Pod')),
  nodes: defineResource<Node>({ ...core('nodes', 'Node'), namespaced: false }),
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
  nativePodGroups: podGroups('scheduling.k8s.io', 'v1beta1'),
  nativeCompositePodGroups: defineResource<SchedulerObject>({
    group: 'scheduling.k8s.io',
    version: 'v1alpha3',
    resource: 'compositepodgroups',
    kind: 'CompositePodGroup',
    namespaced: true,
  }),
  workloads: defineResource<SchedulerObject>({
    group: 'scheduling.k8s.io',
    version: 'v1beta1',
    resource: 'workloads',
    kind: 'Workload',
    namespaced: true,
  }),
  computeDomains: defineResource<ComputeDomain>({
    group: 'resource.nvidia.com',
    version: 'v1beta1',
    resource: 'computedomains',
    kind: 'ComputeDomain',
    namespaced: true,
  }),
} as const

/** Kinds of the native gangs of Kubernetes. */
export const nativeGangKinds = [
  resources.workloads,
  resources.nativeCompositePodGroups,
  resources.nativePodGroups,
] as const

/** Kinds of objects that schedulers read for a gang. The operator writes them, and the PodGang owns them. */
export const schedulerObjectKinds: readonly Resource<SchedulerObject>[] = [
  resources.kaiPodGroups,
  resources.volcanoPodGroups,
  ...nativeGangKinds,
]
