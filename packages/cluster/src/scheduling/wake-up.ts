// SPDX-License-Identifier: Apache-2.0

// Which changes can make a pod fit that did not fit before. Too much costs time, too little leaves pods waiting for
// ever: in doubt it says yes.

import { semanticallyEqual } from '@grove/apimachinery'
import type { Node } from '../controllers/kinds.ts'
import type { FilterName } from './filter.ts'
import type { NodeState } from './node-state.ts'
import type { PodInfo } from './pod-info.ts'

/** Heartbeats change nothing; room, labels, taints and cordons do. */
export function nodeMayHelp(old: Node | undefined, node: Node): boolean {
  if (!old) return true
  return !(
    semanticallyEqual(old.spec?.taints, node.spec?.taints) &&
    Boolean(old.spec?.unschedulable) === Boolean(node.spec?.unschedulable) &&
    semanticallyEqual(old.metadata?.labels, node.metadata?.labels) &&
    semanticallyEqual(old.status?.allocatable, node.status?.allocatable)
  )
}

/** A pod that leaves makes room on one node only: it helps those that need no more than is free there now. */
export function podLeftHelps(node: NodeState): (pod: PodInfo, filters: ReadonlySet<FilterName>) => boolean {
  return (pod, filters) => {
    if (filters.has('PodTopologySpread') || filters.has('InterPodAffinity')) return true
    for (const [resource, amount] of pod.requests) if (amount > node.free(resource)) return false
    return true
  }
}
