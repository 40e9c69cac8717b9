// SPDX-License-Identifier: Apache-2.0

// Decides which events can make an unschedulable pod schedulable. False positives cost time, but false
// negatives leave pods waiting forever. In doubt the result is true.

import { semanticallyEqual } from '@grove/apimachinery'
import type { Node } from '../controllers/kinds.ts'
import type { FilterName } from './filter.ts'
import type { NodeState } from './node-state.ts'
import type { PodInfo } from './pod-info.ts'

/** Heartbeats do not help. Changes of capacity, labels, taints and cordons do. */
export function nodeMayHelp(old: Node | undefined, node: Node): boolean {
  if (!old) return true
  return !(
    semanticallyEqual(old.spec?.taints, node.spec?.taints) &&
    Boolean(old.spec?.unschedulable) === Boolean(node.spec?.unschedulable) &&
    semanticallyEqual(old.metadata?.labels, node.metadata?.labels) &&
    semanticallyEqual(old.status?.allocatable, node.status?.allocatable)
  )
}

/** A removed pod frees resources on one node only. It helps pods that now fit there. */
export function podRemovalHelps(
  node: NodeState,
): (pod: PodInfo, filters: ReadonlySet<FilterName>) => boolean {
  return (pod, filters) => {
    if (filters.has('PodTopologySpread') || filters.has('InterPodAffinity')) return true
    for (const [resource, amount] of pod.requests) if (amount > node.free(resource)) return false
    return true
  }
}
