// SPDX-License-Identifier: Apache-2.0

import type { ClusterView } from '../cluster-state.ts'
import type { Filter, NodeCheck, Rejection } from '../filter.ts'
import type { AffinityTerm, PodInfo } from '../pod-info.ts'

const reject = (reason: string, resolvable: boolean): Rejection => ({
  filter: 'InterPodAffinity',
  reasons: [reason],
  resolvable,
})
const affinityBroken = reject("node(s) didn't match pod affinity rules", false)
const antiAffinityBroken = reject("node(s) didn't match pod anti-affinity rules", true)
const existingBroken = reject("node(s) didn't satisfy existing pods anti-affinity rules", true)

/** Required affinity and anti-affinity of the pod, and required anti-affinity of existing pods. */
export const podAffinity: Filter = {
  name: 'InterPodAffinity',
  prepare(pod, cluster) {
    const checks = [affinityCheck(pod, cluster), antiAffinityCheck(pod, cluster), existingCheck(pod, cluster)]
    const wanted = checks.filter(check => check !== undefined)
    if (wanted.length === 0) return undefined
    return node => {
      for (const check of wanted) {
        const rejection = check(node)
        if (rejection) return rejection
      }
      return undefined
    }
  },
}

function affinityCheck(pod: PodInfo, cluster: ClusterView): NodeCheck | undefined {
  const terms = pod.requiredAffinity
  if (terms.length === 0) return undefined
  // A pod counts only if all terms match it.
  const isWanted = (other: PodInfo) =>
    terms.every(term => term.matches(other, ns => cluster.namespaceLabels(ns)))
  const domains = new Set<string>()
  for (const { info, node } of podsNamedBy(terms, cluster)) {
    if (!isWanted(info)) continue
    for (const { topologyKey } of terms) {
      const value = node.labels[topologyKey]
      if (value !== undefined) domains.add(`${topologyKey}=${value}`)
    }
  }
  // The first pod of a group with affinity to itself may be scheduled anywhere.
  const startsGroup = domains.size === 0 && isWanted(pod)
  return node => {
    let found = true
    for (const { topologyKey } of terms) {
      const value = node.labels[topologyKey]
      if (value === undefined) return affinityBroken
      if (!domains.has(`${topologyKey}=${value}`)) found = false
    }
    return found || startsGroup ? undefined : affinityBroken
  }
}

function antiAffinityCheck(pod: PodInfo, cluster: ClusterView): NodeCheck | undefined {
  const terms = pod.requiredAntiAffinity
  if (terms.length === 0) return undefined
  const domains = new Set<string>()
  for (const { info, node } of podsNamedBy(terms, cluster))
    for (const term of terms) {
      const value = node.labels[term.topologyKey]
      if (value !== undefined && term.matches(info, ns => cluster.namespaceLabels(ns)))
        domains.add(`${term.topologyKey}=${value}`)
    }
  if (domains.size === 0) return undefined
  return node =>
    terms.some(({ topologyKey }) => domains.has(`${topologyKey}=${node.labels[topologyKey]}`))
      ? antiAffinityBroken
      : undefined
}

function existingCheck(pod: PodInfo, cluster: ClusterView): NodeCheck | undefined {
  const domains = new Map<string, Set<string>>()
  for (const node of cluster.nodesWithAntiAffinity)
    for (const other of node.antiAffinityPods)
      for (const term of other.requiredAntiAffinity) {
        const value = node.labels[term.topologyKey]
        if (value === undefined || !term.matches(pod, ns => cluster.namespaceLabels(ns))) continue
        const values = domains.get(term.topologyKey)
        if (values) values.add(value)
        else domains.set(term.topologyKey, new Set([value]))
      }
  if (domains.size === 0) return undefined
  return node => {
    for (const [key, values] of domains) {
      const value = node.labels[key]
      if (value !== undefined && values.has(value)) return existingBroken
    }
    return undefined
  }
}

/**
 * Yields the pods that the terms can match: those of the named namespaces, or all for a namespace selector.
 */
export function* podsNamedBy(terms: readonly AffinityTerm[], cluster: ClusterView) {
  const names = new Set<string>()
  for (const { namespaces } of terms) {
    for (const name of namespaces ?? cluster.namespaces) names.add(name)
  }
  for (const name of names) yield* cluster.podsIn(name)
}
