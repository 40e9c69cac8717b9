// SPDX-License-Identifier: Apache-2.0

import type { PodCliqueSet } from '@grove/api'

/**
 * Maximum number of objects that `render` prints for one set. It is ten times that of the largest tested sets, and fits
 * into the memory of a laptop. A replica count may be a typo.
 */
export const renderedObjectsLimit = 50_000

/**
 * Number of pods, cliques, groups and gangs of a set. It is computed, because expanding the set may exhaust the memory.
 */
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
