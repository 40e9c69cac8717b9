// SPDX-License-Identifier: Apache-2.0

// Every kind that the scheduler reads or writes.
import {
  type ClusterTopologyBinding,
  kinds,
  type Namespace,
  type Node,
  type Pod,
  type PodGang,
  type PriorityClass,
  type ResourceClaim,
  type ResourceClaimTemplate,
} from '@grove/api'
import { defineResource, type KubeObject, type Resource } from '@grove/kube'
import type {
  DeviceClass,
  PersistentVolume,
  PersistentVolumeClaim,
  PodDisruptionBudget,
  ResourceSlice,
  StorageClass,
} from '../types.ts'

function kind<T>(
  group: string,
  resource: string,
  kind: string,
  namespaced: boolean,
): Resource<T & KubeObject> {
  return defineResource<T & KubeObject>({ group, version: 'v1', resource, kind, namespaced })
}

export const resources = {
  nodes: kind<Node>('', 'nodes', 'Node', false),
  pods: kind<Pod>('', 'pods', 'Pod', true),
  podGangs: defineResource<PodGang>(kinds.podGang),
  topologyBindings: defineResource<ClusterTopologyBinding>(kinds.clusterTopologyBinding),
  priorityClasses: kind<PriorityClass>('scheduling.k8s.io', 'priorityclasses', 'PriorityClass', false),
  namespaces: kind<Namespace>('', 'namespaces', 'Namespace', false),
  persistentVolumes: kind<PersistentVolume>('', 'persistentvolumes', 'PersistentVolume', false),
  persistentVolumeClaims: kind<PersistentVolumeClaim>(
    '',
    'persistentvolumeclaims',
    'PersistentVolumeClaim',
    true,
  ),
  storageClasses: kind<StorageClass>('storage.k8s.io', 'storageclasses', 'StorageClass', false),
  podDisruptionBudgets: kind<PodDisruptionBudget>(
    'policy',
    'poddisruptionbudgets',
    'PodDisruptionBudget',
    true,
  ),
  resourceSlices: kind<ResourceSlice>('resource.k8s.io', 'resourceslices', 'ResourceSlice', false),
  deviceClasses: kind<DeviceClass>('resource.k8s.io', 'deviceclasses', 'DeviceClass', false),
  resourceClaims: kind<ResourceClaim>('resource.k8s.io', 'resourceclaims', 'ResourceClaim', true),
  resourceClaimTemplates: kind<ResourceClaimTemplate>(
    'resource.k8s.io',
    'resourceclaimtemplates',
    'ResourceClaimTemplate',
    true,
  ),
} as const
