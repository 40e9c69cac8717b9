// SPDX-License-Identifier: Apache-2.0

import type { CliqueTemplate, PodCliqueSet, ScalingGroupTemplate } from '../../types/index.ts'

/**
 * Replaces null by an empty list where a list is required. The schema rejects such a null, but tolerates one that was
 * stored before and did not change. The rules therefore have to handle it.
 */
export function withEmptyLists(set: PodCliqueSet): PodCliqueSet {
  const { template } = set.spec
  const { cliques, podCliqueScalingGroups: groups = [] } = template
  if (cliques.every(hasContainers) && groups.every(hasMembers)) return set
  return {
    ...set,
    spec: {
      ...set.spec,
      template: {
        ...template,
        cliques: cliques.map(clique => (hasContainers(clique) ? clique : withContainers(clique))),
        podCliqueScalingGroups: groups.map(group =>
          hasMembers(group) ? group : { ...group, cliqueNames: [] },
        ),
      },
    },
  }
}

function hasContainers({ spec: { podSpec } }: CliqueTemplate): boolean {
  return Array.isArray(podSpec.containers)
}

function hasMembers({ cliqueNames }: ScalingGroupTemplate): boolean {
  return Array.isArray(cliqueNames)
}

function withContainers(clique: CliqueTemplate): CliqueTemplate {
  const { spec } = clique
  return { ...clique, spec: { ...spec, podSpec: { ...spec.podSpec, containers: [] } } }
}
