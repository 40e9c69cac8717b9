// SPDX-License-Identifier: Apache-2.0

const cliques = 'spec.template.cliques'
const scalingGroups = 'spec.template.podCliqueScalingGroups'

/** Field paths of a PodCliqueSet that rules report. */
export const path = {
  template: 'spec.template',
  cliques,
  scalingGroups,
  clique: (index: number): string => `${cliques}[${index}]`,
  scalingGroup: (index: number): string => `${scalingGroups}[${index}]`,
}
