// SPDX-License-Identifier: Apache-2.0

import type { NodeState } from '../node-state.ts'
import type { PodInfo } from '../pod-info.ts'
import { bestScore, type Score } from '../score.ts'

const rated = ['cpu', 'memory'] as const

/** Nodes with more left over are better. */
export const leastAllocated: Score = {
  name: 'NodeResourcesFit',
  weight: 1,
  rate: (pod, candidates) =>
    candidates.map(node => {
      const shares = usedShares(pod, node)
      if (shares.length === 0) return 0
      const left = shares.map(share => Math.floor(Math.max(0, 1 - share) * bestScore))
      return Math.floor(left.reduce((sum, mark) => sum + mark, 0) / left.length)
    }),
}

/** Nodes whose resources are used up at the same pace are better. */
export const balancedAllocation: Score = {
  name: 'NodeResourcesBalancedAllocation',
  weight: 1,
  rate: (pod, candidates) =>
    candidates.map(node => {
      const [first = 0, second = first] = usedShares(pod, node).map(share => Math.min(1, share))
      return Math.floor((1 - Math.abs(first - second) / 2) * bestScore)
    }),
}

/** The used part of each rated resource with the pod on the node. */
function usedShares(pod: PodInfo, node: NodeState): number[] {
  const shares: number[] = []
  for (const resource of rated) {
    const total = node.allocatable.get(resource) ?? 0
    if (total === 0) continue
    shares.push(((node.assumed.get(resource) ?? 0) + (pod.assumed.get(resource) ?? 0)) / total)
  }
  return shares
}
