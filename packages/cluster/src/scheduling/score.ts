// SPDX-License-Identifier: Apache-2.0

import type { ClusterView } from './cluster-state.ts'
import type { NodeState } from './node-state.ts'
import type { PodInfo } from './pod-info.ts'

/** The highest score; the lowest is 0. */
export const bestScore = 100

/** Rates feasible nodes. Pure, like a filter. */
export interface Score {
  readonly name: string
  readonly weight: number
  /** Returns the scores of the candidates in their order; undefined if all are equal. */
  rate(pod: PodInfo, candidates: readonly NodeState[], cluster: ClusterView): readonly number[] | undefined
}

/** Normalizes raw scores to 0 to 100 by the largest. With `reverse` the smallest is best. */
export function scaled(raw: readonly number[], reverse = false): readonly number[] | undefined {
  const most = Math.max(...raw)
  if (most === 0) return undefined
  return raw.map(value => {
    const mark = Math.floor((bestScore * value) / most)
    return reverse ? bestScore - mark : mark
  })
}
