// SPDX-License-Identifier: Apache-2.0

import type { Stored } from '@grove/kube'
import type { Pod } from '../controllers/kinds.ts'
import type { Filter } from './filter.ts'
import type { NodeState } from './node-state.ts'
import type { PodInfo } from './pod-info.ts'

/** What else a pod needs on its node, such as devices: found by a rule, kept from the decision on, settled before the
 * pod is bound. */
export interface SchedulingExtension {
  readonly filter: Filter
  /** The pod waits for something without which it is not worth trying. */
  holds(pod: Stored<Pod>): boolean
  /** The pod goes to this node: others must not count on what it needs there. */
  reserve(pod: PodInfo, node: NodeState): void
  /** Writes down what was reserved; rejects when that is impossible. */
  settle(pod: PodInfo, node: NodeState): Promise<void>
  /** The pod does not go there after all. */
  release(pod: PodInfo): void
}
