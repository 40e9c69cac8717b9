// SPDX-License-Identifier: Apache-2.0

import type { ClusterView } from './cluster-state.ts'
import type { NodeState } from './node-state.ts'
import type { PodInfo } from './pod-info.ts'

/** The best mark a score gives; the worst is 0. */
export const bestScore = 100

/** One opinion about which of the possible nodes is better. Pure, like a filter. */
export interface Score {
  readonly name: string
  readonly weight: number
  /** The marks of the candidates in their order; undefined when all are the same to it. */
  rate(pod: PodInfo, candidates: readonly NodeState[], cluster: ClusterView): readonly number[] | undefined
}

/** Spreads raw numbers over 0 to 100 by the largest; with `reverse` the smallest is best. */
export function scaled(raw: readonly number[], reverse = false): readonly number[] | undefined {
  const most = Math.max(...raw)
  if (most === 0) return undefined
  return raw.map(value => {
    const mark = Math.floor((bestScore * value) / most)
    return reverse ? bestScore - mark : mark
  })
}
