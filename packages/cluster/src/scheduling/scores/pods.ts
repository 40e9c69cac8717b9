// SPDX-License-Identifier: Apache-2.0

import type { ClusterView } from '../cluster-state.ts'
import { podsNamedBy } from '../filters/pod-affinity.ts'
import { countDomains, spreadConstraints } from '../filters/topology-spread.ts'
import type { NodeState } from '../node-state.ts'
import type { AffinityTerm, PodInfo } from '../pod-info.ts'
import { bestScore, type Score, scaled } from '../score.ts'

/** The weight of required affinity terms of existing pods that match this pod. */
const hardAffinityWeight = 1

/** Prefers domains by affinity terms of this pod and of existing pods. */
export const podAffinityPreference: Score = {
  name: 'InterPodAffinity',
  weight: 2,
  rate(pod, candidates, cluster) {
    const own = [...pod.preferredAffinity, ...pod.preferredAntiAffinity]
    if (own.length === 0 && cluster.nodesWithAffinity.size === 0) return undefined
    const marks = new Map<string, number>()
    const add = (node: NodeState, { topologyKey }: AffinityTerm, weight: number) => {
      const value = node.labels[topologyKey]
      if (value === undefined) return
      const domain = `${topologyKey}=${value}`
      marks.set(domain, (marks.get(domain) ?? 0) + weight)
    }
    addOwnTerms(pod, cluster, add)
    addTermsOfOthers(pod, cluster, add)
    if (marks.size === 0) return undefined
    return spreadBetween(candidates.map(node => sumOf(node, marks)))
  },
}

type AddMark = (node: NodeState, term: AffinityTerm, weight: number) => void

function addOwnTerms(pod: PodInfo, cluster: ClusterView, add: AddMark): void {
  const namespaceLabels = (name: string) => cluster.namespaceLabels(name)
  for (const [terms, sign] of [
    [pod.preferredAffinity, 1],
    [pod.preferredAntiAffinity, -1],
  ] as const)
    for (const { info, node } of podsNamedBy(terms, cluster))
      for (const term of terms) if (term.matches(info, namespaceLabels)) add(node, term, sign * term.weight)
}

function addTermsOfOthers(pod: PodInfo, cluster: ClusterView, add: AddMark): void {
  const namespaceLabels = (name: string) => cluster.namespaceLabels(name)
  for (const node of cluster.nodesWithAffinity)
    for (const other of node.affinityPods) {
      for (const term of other.requiredAffinity)
        if (term.matches(pod, namespaceLabels)) add(node, term, hardAffinityWeight)
      for (const term of other.preferredAffinity)
        if (term.matches(pod, namespaceLabels)) add(node, term, term.weight)
      for (const term of other.preferredAntiAffinity)
        if (term.matches(pod, namespaceLabels)) add(node, term, -term.weight)
    }
}

function sumOf(node: NodeState, marks: ReadonlyMap<string, number>): number {
  let sum = 0
  for (const key in node.labels) sum += marks.get(`${key}=${node.labels[key]}`) ?? 0
  return sum
}

function spreadBetween(raw: readonly number[]): readonly number[] | undefined {
  const least = Math.min(...raw)
  const span = Math.max(...raw) - least
  return span === 0 ? undefined : raw.map(value => Math.floor((bestScore * (value - least)) / span))
}

/** Topology spread constraints with `ScheduleAnyway`: prefers domains with fewer matching pods. */
export const spreadPreference: Score = {
  name: 'PodTopologySpread',
  weight: 2,
  rate(pod, candidates, cluster) {
    const constraints = spreadConstraints(pod, 'ScheduleAnyway')
    if (constraints.length === 0) return undefined
    const crowds = constraints.map(constraint => ({
      key: constraint.topologyKey,
      counts: countDomains(pod, constraint, constraints, cluster),
    }))
    const raw = candidates.map(node =>
      crowds.reduce((sum, { key, counts }) => sum + (counts.get(node.labels[key] ?? '') ?? 0), 0),
    )
    return scaled(raw, true)
  },
}
