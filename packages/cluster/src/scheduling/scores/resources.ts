// SPDX-License-Identifier: Apache-2.0

// These functions run for every feasible node of every pod, so they allocate no arrays.

import type { NodeState } from '../node-state.ts'
import type { PodInfo } from '../pod-info.ts'
import { bestScore, type Score } from '../score.ts'

/** Prefers nodes with more free resources. */
export const leastAllocated: Score = {
  name: 'NodeResourcesFit',
  weight: 1,
  rate: (pod, candidates) =>
    candidates.map(node => {
      const cpu = freeShare(usedShare(pod, node, 'cpu'))
      const memory = freeShare(usedShare(pod, node, 'memory'))
      if (cpu < 0) return Math.max(0, memory)
      return memory < 0 ? cpu : Math.floor((cpu + memory) / 2)
    }),
}

/** Prefers nodes whose cpu and memory are used in equal proportion. */
export const balancedAllocation: Score = {
  name: 'NodeResourcesBalancedAllocation',
  weight: 1,
  rate: (pod, candidates) =>
    candidates.map(node => {
      const cpu = usedShare(pod, node, 'cpu')
      const memory = usedShare(pod, node, 'memory')
      const apart = cpu < 0 || memory < 0 ? 0 : Math.abs(Math.min(1, cpu) - Math.min(1, memory))
      return Math.floor((1 - apart / 2) * bestScore)
    }),
}

/**
 * The used fraction of a resource with the pod on the node; negative if the node does not have the resource.
 */
function usedShare(pod: PodInfo, node: NodeState, resource: 'cpu' | 'memory'): number {
  const total = node.allocatable.get(resource) ?? 0
  if (total === 0) return -1
  return ((node.assumed.get(resource) ?? 0) + (pod.assumed.get(resource) ?? 0)) / total
}

function freeShare(share: number): number {
  return share < 0 ? -1 : Math.floor(Math.max(0, 1 - share) * bestScore)
}
