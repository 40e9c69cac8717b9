// SPDX-License-Identifier: Apache-2.0
import { keysReadBy } from '../filters/pod-affinity.ts'
import type { HostPort, SnapshotPod } from '../types.ts'

/** Resources and ports that bound pods hold on one node. */
export interface NodeUsage {
  readonly amounts: Map<string, number>
  readonly ports: HostPort[]
  pods: number
}

/** The sums over a list of bound pods. */
export interface Usage {
  readonly byNode: ReadonlyMap<string, NodeUsage>
  /** Label keys that the pod affinity of these pods reads. */
  readonly labelKeys: readonly string[]
  /** Pods with anti-affinity rules, which may keep other pods away. */
  readonly repelling: readonly SnapshotPod[]
}

/** Counterfactuals change nodes and gangs far more often than bound pods, so lists are summed up once. */
const known = new WeakMap<readonly SnapshotPod[], Usage>()

export function usageOf(pods: readonly SnapshotPod[]): Usage {
  const cached = known.get(pods)
  if (cached) return cached
  const byNode = new Map<string, NodeUsage>()
  for (const { node, needs } of pods) {
    if (node === undefined) continue
    let usage = byNode.get(node)
    if (!usage) {
      usage = { amounts: new Map(), ports: [], pods: 0 }
      byNode.set(node, usage)
    }
    usage.pods++
    for (const name in needs.requests)
      usage.amounts.set(name, (usage.amounts.get(name) ?? 0) + needs.requests[name]!)
    usage.ports.push(...needs.hostPorts)
  }
  const usage = {
    byNode,
    labelKeys: keysReadBy(pods),
    repelling: pods.filter(({ needs }) => needs.podAntiAffinity.length > 0),
  }
  known.set(pods, usage)
  return usage
}
