// SPDX-License-Identifier: Apache-2.0

import type { CliqueTemplate, PodCliqueSet, ScalingGroupTemplate } from '../../types/index.ts'

/**
 * The set with empty lists where required ones are null. The schema refuses such a null, but tolerates one that was
 * stored before and did not change, so that the rules can meet it.
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
