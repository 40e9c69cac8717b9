// SPDX-License-Identifier: Apache-2.0

import type { Stored } from '@grove/kube'
import type { Pod } from '../controllers/kinds.ts'
import type { Filter } from './filter.ts'
import type { NodeState } from './node-state.ts'
import type { PodInfo } from './pod-info.ts'

/**
 * Schedules further resources of a pod, such as devices: a filter finds them, `reserve` keeps them, and
 * `preBind` writes them before the binding.
 */
export interface SchedulingExtension {
  readonly filter: Filter
  /** True if the pod waits for a prerequisite and cannot be scheduled yet. */
  holds(pod: Stored<Pod>): boolean
  /** Reserves the resources of a pod on a node, so that no other pod gets them. */
  reserve(pod: PodInfo, node: NodeState): void
  /** Writes the reservation to the API. Rejects if that fails. */
  preBind(pod: PodInfo, node: NodeState): Promise<void>
  /** Releases the reservation of a pod that is not bound to the node. */
  release(pod: PodInfo): void
}
