// SPDX-License-Identifier: Apache-2.0

import type { Filter } from '../filter.ts'
import { nodeAffinity } from './node-affinity.ts'
import { nodeName } from './node-name.ts'
import { nodePorts } from './node-ports.ts'
import { nodeResources } from './node-resources.ts'
import { nodeUnschedulable } from './node-unschedulable.ts'
import { podAffinity } from './pod-affinity.ts'
import { taintToleration } from './taint-toleration.ts'
import { topologySpread } from './topology-spread.ts'

/** In the order of kube-scheduler: a node is reported with the first filter that rejects it. */
export const defaultFilters: readonly Filter[] = [
  nodeUnschedulable,
  nodeName,
  taintToleration,
  nodeAffinity,
  nodePorts,
  nodeResources,
  topologySpread,
  podAffinity,
]

export {
  nodeAffinity,
  nodeName,
  nodePorts,
  nodeResources,
  nodeUnschedulable,
  podAffinity,
  taintToleration,
  topologySpread,
}
