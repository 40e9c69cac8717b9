// SPDX-License-Identifier: Apache-2.0

// Asked for each possible node of each pod: no lists are made here.

import type { NodeState } from '../node-state.ts'
import type { PodInfo } from '../pod-info.ts'
import { bestScore, type Score } from '../score.ts'

/** Nodes with more left over are better. */
export const leastAllocated: Score = {
  name: 'NodeResourcesFit',
  weight: 1,
  rate: (pod, candidates) =>
    candidates.map(node => {
      const cpu = leftOver(usedShare(pod, node, 'cpu'))
      const memory = leftOver(usedShare(pod, node, 'memory'))
      if (cpu < 0) return Math.max(0, memory)
      return memory < 0 ? cpu : Math.floor((cpu + memory) / 2)
    }),
}

/** Nodes whose resources are used up at the same pace are better. */
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

/** The used part of a resource with the pod on the node; negative when the node has none of it. */
function usedShare(pod: PodInfo, node: NodeState, resource: 'cpu' | 'memory'): number {
  const total = node.allocatable.get(resource) ?? 0
  if (total === 0) return -1
  return ((node.assumed.get(resource) ?? 0) + (pod.assumed.get(resource) ?? 0)) / total
}

function leftOver(share: number): number {
  return share < 0 ? -1 : Math.floor(Math.max(0, 1 - share) * bestScore)
}
