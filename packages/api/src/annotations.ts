// SPDX-License-Identifier: Apache-2.0

export const annotation = {
  /** On a PodCliqueSet, exactly "true": the protection of its objects is off. */
  disableProtection: 'grove.io/disable-managed-resource-protection',
  /** On a PodCliqueSet: any change of it starts a reconcile. */
  reconcileTrigger: 'grove.io/reconcile-trigger',
  /** On a PodCliqueSet, by us: how many pods its terminated cliques had been scaled to, until they are back. */
  countsBeforeTermination: 'grove.io/replicas-before-termination',
  /** On a pod, by us: how often the pods of its index failed in a row before it. */
  consecutiveFailures: 'grove.io/consecutive-failures',
  /** On a PodGang: the ClusterTopologyBinding to place it by. */
  topologyName: 'grove.io/topology-name',
  /** On a PodCliqueSet, clique or scaling group: multi-node NVLink group, or `none`. */
  mnnvlGroup: 'grove.io/mnnvl-group',
  volcanoQueue: 'scheduling.grove.io/volcano-queue',
  kaiQueue: 'kai.scheduler/queue',
  kaiSkipPodGrouper: 'kai.scheduler/skip-podgrouper',
  kaiPodGroupName: 'pod-group-name',
  kaiTopology: 'kai.scheduler/topology',
  volcanoGroupName: 'scheduling.volcano.sh/group-name',
  kubernetesGroupName: 'scheduling.k8s.io/group-name',
  serviceAccountName: 'kubernetes.io/service-account.name',
} as const

/** Value of the MNNVL annotation that opts out and ends inheritance. */
export const mnnvlGroupNone = 'none'

/** Keys with this prefix are ours: neither mirrored from a PodCliqueSet to its gangs nor removed from them. */
export const ownKeyPrefix = 'grove.io/'
