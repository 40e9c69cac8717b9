// SPDX-License-Identifier: Apache-2.0

import { operatorName } from './names.ts'

export const label = {
  managedBy: 'app.kubernetes.io/managed-by',
  partOf: 'app.kubernetes.io/part-of',
  name: 'app.kubernetes.io/name',
  component: 'app.kubernetes.io/component',
  setReplicaIndex: 'grove.io/podcliqueset-replica-index',
  scalingGroup: 'grove.io/podcliquescalinggroup',
  scalingGroupReplicaIndex: 'grove.io/podcliquescalinggroup-replica-index',
  podClique: 'grove.io/podclique',
  podIndex: 'grove.io/podclique-pod-index',
  podGang: 'grove.io/podgang',
  /** Only on PodCliques and pods of a scaled gang. */
  basePodGang: 'grove.io/base-podgang',
  podTemplateHash: 'grove.io/pod-template-hash',
  /** On a stored revision: its hash, as in the status of a set. */
  generationHash: 'grove.io/generation-hash',
  schedulerName: 'grove.io/scheduler-name',
  mnnvlGroup: 'grove.io/mnnvl-group',
  kaiQueue: 'kai.scheduler/queue',
  kaiNodePool: 'kai.scheduler/node-pool',
  kaiSubgroupName: 'kai.scheduler/subgroup-name',
} as const

/**
 * Labels below `grove.io/` by which the operator finds PodCliques and pods and their owners. Only the operator sets
 * them. On a clique template they are ignored.
 */
export const reservedLabels: ReadonlySet<string> = new Set([
  label.setReplicaIndex,
  label.scalingGroup,
  label.scalingGroupReplicaIndex,
  label.podClique,
  label.podIndex,
  label.podGang,
  label.basePodGang,
  label.podTemplateHash,
])

/** Values of `app.kubernetes.io/component`. Pods have the value of their PodClique. */
export const component = {
  headlessService: 'pcs-headless-service',
  role: 'pod-role',
  roleBinding: 'pod-role-binding',
  serviceAccount: 'pod-service-account',
  tokenSecret: 'pod-sa-token-secret',
  scalingGroup: 'pcs-podcliquescalinggroup',
  horizontalPodAutoscaler: 'pcs-hpa',
  podGang: 'podgang',
  standaloneClique: 'pcs-podclique',
  memberClique: 'pcsg-podclique',
  resourceClaim: 'resource-claim',
  computeDomain: 'pcs-computedomain',
  revision: 'pcs-revision',
} as const

/** Labels of every object that the operator creates for a PodCliqueSet. It also finds the objects by them. */
export function managedLabels(set: string): Record<string, string> {
  return { [label.managedBy]: operatorName, [label.partOf]: set }
}

/** A label selector as text, in the order given: autoscalers read this form from a status. */
export function selectorText(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(',')
}

export const podSelector = {
  ofSet: (set: string): string => selectorText(managedLabels(set)),
  ofClique: (set: string, cliqueName: string): string =>
    selectorText({ ...managedLabels(set), [label.podClique]: cliqueName }),
  ofScalingGroup: (set: string, scalingGroupName: string): string =>
    selectorText({ ...managedLabels(set), [label.scalingGroup]: scalingGroupName }),
}
