// SPDX-License-Identifier: Apache-2.0

import type { ClusterView } from './cluster-state.ts'
import type { NodeState } from './node-state.ts'
import type { PodInfo } from './pod-info.ts'

/** Why a filter rejected a node. */
export interface Rejection {
  readonly filter: FilterName
  /** The messages of kube-scheduler, because users search for them. */
  readonly reasons: readonly string[]
  /** True if preemption on the node could help. */
  readonly resolvable: boolean
}

export type FilterName =
  | 'NodeUnschedulable'
  | 'NodeName'
  | 'TaintToleration'
  | 'NodeAffinity'
  | 'NodePorts'
  | 'NodeResourcesFit'
  | 'PodTopologySpread'
  | 'InterPodAffinity'
  | 'DynamicResources'

export type NodeCheck = (node: NodeState) => Rejection | undefined

/**
 * A scheduling rule. Pure: it only reads the pod and the cluster. `prepare` computes the cluster-wide part
 * once per pod.
 */
export interface Filter {
  readonly name: FilterName
  /** Returns undefined if the filter accepts this pod on every node. */
  prepare(pod: PodInfo, cluster: ClusterView): NodeCheck | undefined
}
