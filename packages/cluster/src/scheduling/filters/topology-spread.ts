// SPDX-License-Identifier: Apache-2.0

import type { TopologySpreadConstraint } from '../../schema/types.generated.ts'
import type { ClusterView } from '../cluster-state.ts'
import type { Filter, Rejection } from '../filter.ts'
import type { NodeState } from '../node-state.ts'
import { type PodInfo, spreadTest } from '../pod-info.ts'
import type { LabelTest } from '../selector.ts'
import { untoleratedTaint } from '../taints.ts'
import { nodeTest } from './node-affinity.ts'

const text = "node(s) didn't match pod topology spread constraints"
const uneven: Rejection = { filter: 'PodTopologySpread', reasons: [text], resolvable: true }
const withoutLabel: Rejection = {
  filter: 'PodTopologySpread',
  reasons: [`${text} (missing required label)`],
  resolvable: false,
}

/** Topology spread constraints with `DoNotSchedule`. */
export const topologySpread: Filter = {
  name: 'PodTopologySpread',
  prepare(pod, cluster) {
    const constraints = spreadConstraints(pod, 'DoNotSchedule')
    if (constraints.length === 0) return undefined
    const counted = constraints.map(constraint => ({
      constraint,
      counts: countDomains(pod, constraint, constraints, cluster),
    }))
    const rules = counted.map(({ constraint, counts }) => ({
      key: constraint.topologyKey,
      counts,
      least: counts.size < constraint.minDomains ? 0 : Math.min(...counts.values()),
      own: constraint.test(pod.labels) ? 1 : 0,
      maxSkew: constraint.maxSkew,
    }))
    return node => {
      for (const { key, counts, least, own, maxSkew } of rules) {
        const domain = node.labels[key]
        if (domain === undefined) return withoutLabel
        if ((counts.get(domain) ?? 0) + own - least > maxSkew) return uneven
      }
      return undefined
    }
  },
}

export interface SpreadConstraint {
  readonly topologyKey: string
  readonly maxSkew: number
  readonly minDomains: number
  readonly test: LabelTest
  readonly source: TopologySpreadConstraint
}

export function spreadConstraints(
  pod: PodInfo,
  when: 'DoNotSchedule' | 'ScheduleAnyway',
): readonly SpreadConstraint[] {
  return (pod.pod.spec?.topologySpreadConstraints ?? [])
    .filter(({ whenUnsatisfiable = 'DoNotSchedule' }) => whenUnsatisfiable === when)
    .map(source => ({
      topologyKey: source.topologyKey ?? '',
      maxSkew: source.maxSkew ?? 1,
      minDomains: source.minDomains ?? 1,
      test: spreadTest(source.labelSelector, source.matchLabelKeys, pod.labels),
      source,
    }))
}

/** Counts matching pods per domain, on the nodes that are eligible for the pod. */
export function countDomains(
  pod: PodInfo,
  constraint: SpreadConstraint,
  all: readonly SpreadConstraint[],
  cluster: ClusterView,
): Map<string, number> {
  const counts = new Map<string, number>()
  const eligible = eligibility(pod, constraint, all)
  for (const node of cluster.nodes) {
    if (!eligible(node)) continue
    const domain = node.labels[constraint.topologyKey]!
    if (!counts.has(domain)) counts.set(domain, 0)
  }
  for (const { info, node } of cluster.podsIn(pod.namespace)) {
    if (info.terminating || !constraint.test(info.labels) || !eligible(node)) continue
    const domain = node.labels[constraint.topologyKey]!
    counts.set(domain, (counts.get(domain) ?? 0) + 1)
  }
  return counts
}

function eligibility(
  pod: PodInfo,
  { source }: SpreadConstraint,
  all: readonly SpreadConstraint[],
): (node: NodeState) => boolean {
  const selected = source.nodeAffinityPolicy === 'Ignore' ? undefined : nodeTest(pod)
  const honorTaints = source.nodeTaintsPolicy === 'Honor'
  const tolerations = pod.pod.spec?.tolerations
  return node =>
    all.every(({ topologyKey }) => node.labels[topologyKey] !== undefined) &&
    (!selected || selected(node)) &&
    !(honorTaints && untoleratedTaint(node.taints, tolerations, 'NoSchedule', 'NoExecute'))
}
