// SPDX-License-Identifier: Apache-2.0

import type { ClusterState } from './cluster-state.ts'
import { explainCounts } from './explanation.ts'
import type { Filter, Rejection } from './filter.ts'
import { defaultFilters } from './filters/index.ts'
import type { NodeState } from './node-state.ts'
import type { PodInfo } from './pod-info.ts'
import { prepareFilters } from './select-node.ts'

export type Preemption =
  | { readonly ok: true; readonly node: NodeState; readonly victims: readonly PodInfo[] }
  | { readonly ok: false; readonly message: string }

/** The number of nodes that are evaluated. Evaluating thousands would cost too much. */
const maximumCandidates = 100

/**
 * Chooses the victims of lower priority on the node with the least damage: lowest highest priority, then
 * lowest sum, then fewest victims. Ignores disruption budgets.
 */
export function planPreemption(
  pod: PodInfo,
  cluster: ClusterState,
  rejections: ReadonlyMap<NodeState, Rejection>,
  filters: readonly Filter[] = defaultFilters,
): Preemption {
  if (pod.pod.spec?.preemptionPolicy === 'Never')
    return { ok: false, message: 'not eligible due to preemptionPolicy=Never.' }
  if (waitsForVictims(pod, cluster))
    return { ok: false, message: 'not eligible due to a terminating pod on the nominated node.' }
  let best: { node: NodeState; victims: PodInfo[] } | undefined
  let candidates = 0
  let hopeless = 0
  let helpless = 0
  for (const [node, { resolvable }] of rejections) {
    if (!resolvable) {
      hopeless++
      continue
    }
    if (candidates >= maximumCandidates) break
    const victims = victimsOn(node, pod, cluster, filters)
    if (!victims) helpless++
    else {
      candidates++
      if (!best || isCheaper(victims, best.victims)) best = { node, victims }
    }
  }
  if (best) return { ok: true, ...best }
  const counts = new Map<string, number>()
  if (helpless) counts.set('No preemption victims found for incoming pod', helpless)
  if (hopeless) counts.set('Preemption is not helpful for scheduling', hopeless)
  return { ok: false, message: explainCounts(cluster.nodes.length, counts) }
}

function waitsForVictims(pod: PodInfo, cluster: ClusterState): boolean {
  const nominated = cluster.node(pod.pod.status?.nominatedNodeName ?? '')
  if (!nominated) return false
  return [...nominated.pods.values()].some(other => other.priority < pod.priority && other.terminating)
}

/** Removes all pods of lower priority, then adds back as many as possible, high priorities first. */
function victimsOn(
  node: NodeState,
  pod: PodInfo,
  cluster: ClusterState,
  filters: readonly Filter[],
): PodInfo[] | undefined {
  const lower = [...node.pods.values()].filter(other => other.priority < pod.priority).sort(moreImportant)
  if (lower.length === 0) return undefined
  const fitsWithout = (gone: readonly PodInfo[]) =>
    cluster.without(gone, () => prepareFilters(pod, cluster, filters)(node) === undefined)
  if (!fitsWithout(lower)) return undefined
  let victims = lower
  for (const spared of lower) {
    const fewer = victims.filter(victim => victim !== spared)
    if (fitsWithout(fewer)) victims = fewer
  }
  return victims
}

function moreImportant(a: PodInfo, b: PodInfo): number {
  return b.priority - a.priority || startOf(a).localeCompare(startOf(b)) || (a.key < b.key ? -1 : 1)
}

function startOf({ pod }: PodInfo): string {
  return pod.status?.startTime ?? '~'
}

function isCheaper(a: readonly PodInfo[], b: readonly PodInfo[]): boolean {
  const top = (victims: readonly PodInfo[]) => Math.max(...victims.map(({ priority }) => priority))
  const sum = (victims: readonly PodInfo[]) => victims.reduce((total, { priority }) => total + priority, 0)
  return (top(a) - top(b) || sum(a) - sum(b) || a.length - b.length) < 0
}
