// SPDX-License-Identifier: Apache-2.0

import type { ClusterView } from './cluster-state.ts'
import type { Filter, FilterName, NodeCheck, Rejection } from './filter.ts'
import { defaultFilters } from './filters/index.ts'
import type { NodeState } from './node-state.ts'
import type { PodInfo } from './pod-info.ts'
import type { Score } from './score.ts'
import { defaultScores } from './scores/index.ts'

export type NodeSelection =
  | { readonly ok: true; readonly node: NodeState; readonly feasible: number }
  | {
      readonly ok: false
      readonly rejections: ReadonlyMap<NodeState, Rejection>
      /** The filters that rejected nodes. */
      readonly filters: ReadonlySet<FilterName>
    }

export interface NodeSelectionOptions {
  readonly filters?: readonly Filter[]
  readonly scores?: readonly Score[]
  /** From 0 to 1. Chooses between nodes with equal scores. */
  readonly random: () => number
  /** The index of the first node to evaluate, so that a sample is not always the same. */
  readonly start?: number
}

/** Returns the best node for one pod, or why there is none. Pure: does not assign the pod. */
export function selectNode(pod: PodInfo, cluster: ClusterView, options: NodeSelectionOptions): NodeSelection {
  const check = prepareFilters(pod, cluster, options.filters ?? defaultFilters)
  const candidates: NodeState[] = []
  const rejections = new Map<NodeState, Rejection>()
  const { nodes } = cluster
  const start = options.start ?? 0
  for (let i = 0; i < nodes.length && candidates.length < sampleSize; i++) {
    const node = nodes[(start + i) % nodes.length]!
    const rejection = check(node)
    if (rejection) rejections.set(node, rejection)
    else candidates.push(node)
  }
  if (candidates.length === 0)
    return { ok: false, rejections, filters: new Set([...rejections.values()].map(({ filter }) => filter)) }
  const node = bestOf(pod, candidates, cluster, options.scores ?? defaultScores, options.random)
  return { ok: true, node, feasible: candidates.length }
}

/** Combines all filters: returns the first rejection of a node. */
export function prepareFilters(pod: PodInfo, cluster: ClusterView, filters: readonly Filter[]): NodeCheck {
  const checks: NodeCheck[] = []
  for (const filter of filters) {
    const check = filter.prepare(pod, cluster)
    if (check) checks.push(check)
  }
  return node => {
    for (const check of checks) {
      const rejection = check(node)
      if (rejection) return rejection
    }
    return undefined
  }
}

/** The search stops after this many feasible nodes. More would be slower and hardly better. */
const sampleSize = 100

function bestOf(
  pod: PodInfo,
  candidates: readonly NodeState[],
  cluster: ClusterView,
  scores: readonly Score[],
  random: () => number,
): NodeState {
  if (candidates.length === 1) return candidates[0]!
  const totals = candidates.map(() => 0)
  for (const score of scores) {
    const marks = score.rate(pod, candidates, cluster)
    if (marks) for (let i = 0; i < totals.length; i++) totals[i]! += marks[i]! * score.weight
  }
  let best = 0
  let equals = 1
  for (let i = 1; i < totals.length; i++) {
    if (totals[i]! > totals[best]!) {
      best = i
      equals = 1
    } else if (totals[i] === totals[best] && random() < 1 / ++equals) best = i
  }
  return candidates[best]!
}
