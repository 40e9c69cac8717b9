// SPDX-License-Identifier: Apache-2.0

import type { PodCliqueSet } from '@grove/api'

/**
 * The most objects that `render` prints for one set: ten times those of the largest sets that are tested, and as many as
 * fit into the memory of a laptop. A replica count may be a typo.
 */
export const renderedObjectsLimit = 50_000

/** How many pods, cliques, groups and gangs a set consists of. Computed, because expanding it may take all memory. */
export function countObjects({ spec }: PodCliqueSet): number {
  const { cliques, podCliqueScalingGroups: groups = [] } = spec.template
  const cliqueObjects = new Map(cliques.map(clique => [clique.name, 1 + clique.spec.replicas]))
  const members = new Set(groups.flatMap(group => group.cliqueNames))
  const standalone = sum(cliques.map(({ name }) => (members.has(name) ? 0 : (cliqueObjects.get(name) ?? 0))))
  const grouped = sum(
    groups.map(({ cliqueNames, replicas = 1, minAvailable = 1 }) => {
      const gangs = Math.max(0, replicas - minAvailable)
      return 1 + gangs + replicas * sum(cliqueNames.map(name => cliqueObjects.get(name) ?? 0))
    }),
  )
  // Each replica has a gang and a Service of its own.
  return (spec.replicas ?? 0) * (2 + standalone + grouped)
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
