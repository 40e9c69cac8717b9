// SPDX-License-Identifier: Apache-2.0

// The kinds that the controllers, the kubelet and the scheduler use: their types and API resources.

import { defineResource, type KubeObject, type ObjectMeta, type Resource } from '@grove/kube/client'
import type * as kubernetes from '../schema/types.generated.ts'

/**
 * A generated type with the metadata type of clients, in which fields that the server always sets are not
 * null.
 */
export type Kind<T> = Omit<T, 'metadata' | 'apiVersion' | 'kind'> & {
  readonly apiVersion?: string
  readonly kind?: string
  readonly metadata?: ObjectMeta
}

export type ConfigMap = Kind<kubernetes.ConfigMap>
export type ControllerRevision = Kind<kubernetes.AppsControllerRevision>
export type CustomResourceDefinition = Kind<kubernetes.ApiextensionsCustomResourceDefinition>
export type DaemonSet = Kind<kubernetes.AppsDaemonSet>
export type Deployment = Kind<kubernetes.AppsDeployment>
export type DeviceClass = Kind<kubernetes.ResourceDeviceClass>
export type EndpointSlice = Kind<kubernetes.DiscoveryEndpointSlice>
export type HorizontalPodAutoscaler = Kind<kubernetes.AutoscalingV2HorizontalPodAutoscaler>
export type Job = Kind<kubernetes.BatchJob>
export type KubeEvent = Kind<kubernetes.Event>
export type Lease = Kind<kubernetes.CoordinationLease>
export type Namespace = Kind<kubernetes.Namespace>
export type Node = Kind<kubernetes.Node>
export type Pod = Kind<kubernetes.Pod>
export type PodDisruptionBudget = Kind<kubernetes.PolicyPodDisruptionBudget>
export type ReplicaSet = Kind<kubernetes.AppsReplicaSet>
export type ResourceClaim = Kind<kubernetes.ResourceResourceClaim>
export type ResourceClaimTemplate = Kind<kubernetes.ResourceResourceClaimTemplate>
export type ResourceSlice = Kind<kubernetes.ResourceResourceSlice>
export type Secret = Kind<kubernetes.Secret>
export type Service = Kind<kubernetes.Service>
export type ServiceAccount = Kind<kubernetes.ServiceAccount>
export type StatefulSet = Kind<kubernetes.AppsStatefulSet>

type Place = readonly [group: string, version: string, plural: string, kind: string, scope?: 'cluster']

function resource<T extends KubeObject>(...[group, version, plural, kind, scope]: Place): Resource<T> {
  return defineResource<T>({ group, version, resource: plural, kind, namespaced: scope !== 'cluster' })
}

export const configMaps = resource<ConfigMap>('', 'v1', 'configmaps', 'ConfigMap')
export const controllerRevisions = resource<ControllerRevision>(
  'apps',
  'v1',
  'controllerrevisions',
  'ControllerRevision',
)
export const customResourceDefinitions = resource<CustomResourceDefinition>(
  'apiextensions.k8s.io',
  'v1',
  'customresourcedefinitions',
  'CustomResourceDefinition',
  'cluster',
)
export const daemonSets = resource<DaemonSet>('apps', 'v1', 'daemonsets', 'DaemonSet')
export const deployments = resource<Deployment>('apps', 'v1', 'deployments', 'Deployment')
export const deviceClasses = resource<DeviceClass>(
  'resource.k8s.io',
  'v1',
  'deviceclasses',
  'DeviceClass',
  'cluster',
)
export const endpointSlices = resource<EndpointSlice>(
  'discovery.k8s.io',
  'v1',
  'endpointslices',
  'EndpointSlice',
)
export const events = resource<KubeEvent>('', 'v1', 'events', 'Event')
export const horizontalPodAutoscalers = resource<HorizontalPodAutoscaler>(
  'autoscaling',
  'v2',
  'horizontalpodautoscalers',
  'HorizontalPodAutoscaler',
)
export const jobs = resource<Job>('batch', 'v1', 'jobs', 'Job')
export const leases = resource<Lease>('coordination.k8s.io', 'v1', 'leases', 'Lease')
export const namespaces = resource<Namespace>('', 'v1', 'namespaces', 'Namespace', 'cluster')
export const nodes = resource<Node>('', 'v1', 'nodes', 'Node', 'cluster')
export const podDisruptionBudgets = resource<PodDisruptionBudget>(
  'policy',
  'v1',
  'poddisruptionbudgets',
  'PodDisruptionBudget',
)
export const pods = resource<Pod>('', 'v1', 'pods', 'Pod')
export const replicaSets = resource<ReplicaSet>('apps', 'v1', 'replicasets', 'ReplicaSet')
export const resourceClaims = resource<ResourceClaim>(
  'resource.k8s.io',
  'v1',
  'resourceclaims',
  'ResourceClaim',
)
export const resourceClaimTemplates = resource<ResourceClaimTemplate>(
  'resource.k8s.io',
  'v1',
  'resourceclaimtemplates',
  'ResourceClaimTemplate',
)
export const resourceSlices = resource<ResourceSlice>(
  'resource.k8s.io',
  'v1',
  'resourceslices',
  'ResourceSlice',
  'cluster',
)
export const secrets = resource<Secret>('', 'v1', 'secrets', 'Secret')
export const serviceAccounts = resource<ServiceAccount>('', 'v1', 'serviceaccounts', 'ServiceAccount')
export const services = resource<Service>('', 'v1', 'services', 'Service')
export const statefulSets = resource<StatefulSet>('apps', 'v1', 'statefulsets', 'StatefulSet')
