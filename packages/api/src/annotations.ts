// SPDX-License-Identifier: Apache-2.0

export const annotation = {
  /** On a PodCliqueSet, exactly "true": disables the protection of its objects. */
  disableProtection: 'grove.io/disable-managed-resource-protection',
  /** On a PodCliqueSet: any change of the value starts a reconcile. */
  reconcileTrigger: 'grove.io/reconcile-trigger',
  /** On a PodCliqueSet, set by the operator: replicas of terminated cliques, until these are recreated. */
  countsBeforeTermination: 'grove.io/replicas-before-termination',
  /** On a pod, set by the operator: consecutive failures of earlier pods with the same index. */
  consecutiveFailures: 'grove.io/consecutive-failures',
  /** On a PodGang: the ClusterTopologyBinding for its placement. */
  topologyName: 'grove.io/topology-name',
  /** On a PodCliqueSet, clique or scaling group: multi-node NVLink group, or `none`. */
  mnnvlGroup: 'grove.io/mnnvl-group',
  /** On a PodCliqueSet: `Balanced` splits a scope evenly if it needs several domains of its preferred level. */
  split: 'scheduling.grove.io/split',
  volcanoQueue: 'scheduling.grove.io/volcano-queue',
  kaiQueue: 'kai.scheduler/queue',
  kaiSkipPodGrouper: 'kai.scheduler/skip-podgrouper',
  kaiPodGroupName: 'pod-group-name',
  kaiTopology: 'kai.scheduler/topology',
  volcanoGroupName: 'scheduling.volcano.sh/group-name',
  kubernetesGroupName: 'scheduling.k8s.io/group-name',
  serviceAccountName: 'kubernetes.io/service-account.name',
} as const

/** Value of the MNNVL annotation that opts out and stops inheritance. */
export const mnnvlGroupNone = 'none'

/**
 * The operator owns keys with this prefix: it neither copies them from a PodCliqueSet to its gangs nor removes them
 * there.
 */
export const ownKeyPrefix = 'grove.io/'
