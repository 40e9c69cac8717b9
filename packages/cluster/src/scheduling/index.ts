// SPDX-License-Identifier: Apache-2.0

export { type AssignedPod, ClusterState, type ClusterView } from './cluster-state.ts'
export { DefaultScheduler, type DefaultSchedulerOptions } from './default-scheduler.ts'
export { explainCounts, explainRejections, noNodesText } from './explanation.ts'
export type { Filter, FilterName, NodeCheck, Rejection } from './filter.ts'
export { defaultFilters } from './filters/index.ts'
export { NodeState } from './node-state.ts'
export { type AffinityTerm, type HostPort, type PodInfo, podInfo } from './pod-info.ts'
export { type Preemption, planPreemption } from './preemption.ts'
export { type Amounts, amountOf, amountsOf, podRequests, qualityOfService } from './resources.ts'
export type { SchedulingExtension } from './scheduling-extension.ts'
export { bestScore, type Score } from './score.ts'
export { defaultScores } from './scores/index.ts'
export {
  type NodeSelection,
  type NodeSelectionOptions,
  prepareFilters,
  sampleSize,
  selectNode,
} from './select-node.ts'
export { type Labels, type LabelTest, labelTest, nodeTermTest } from './selector.ts'
export { type TaintEffect, tolerates, untoleratedTaint } from './taints.ts'
