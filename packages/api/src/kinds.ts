// SPDX-License-Identifier: Apache-2.0

export interface KindDescriptor<Kind extends string = string> {
  readonly group: string
  readonly version: string
  readonly kind: Kind
  /** Lower-case plural, as in URLs. */
  readonly resource: string
  readonly singular: string
  readonly shortName: string
  readonly namespaced: boolean
}

export const groveGroup = 'grove.io'
export const schedulerGroup = 'scheduler.grove.io'
export const apiVersion = 'grove.io/v1alpha1'
export const schedulerApiVersion = 'scheduler.grove.io/v1alpha1'

function describe<const Kind extends string>(
  group: string,
  kind: Kind,
  shortName: string,
  namespaced = true,
): KindDescriptor<Kind> {
  const singular = kind.toLowerCase()
  return { group, version: 'v1alpha1', kind, resource: `${singular}s`, singular, shortName, namespaced }
}

export const kinds = {
  podCliqueSet: describe(groveGroup, 'PodCliqueSet', 'pcs'),
  podClique: describe(groveGroup, 'PodClique', 'pclq'),
  podCliqueScalingGroup: describe(groveGroup, 'PodCliqueScalingGroup', 'pcsg'),
  clusterTopologyBinding: describe(groveGroup, 'ClusterTopologyBinding', 'ct', false),
  podGang: describe(schedulerGroup, 'PodGang', 'pg'),
} as const
