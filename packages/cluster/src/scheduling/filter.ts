// SPDX-License-Identifier: Apache-2.0

import type { ClusterView } from './cluster-state.ts'
import type { NodeState } from './node-state.ts'
import type { PodInfo } from './pod-info.ts'

/** Why a pod may not be on a node. */
export interface Rejection {
  readonly filter: FilterName
  /** In the words of kube-scheduler, because people search for them. */
  readonly reasons: readonly string[]
  /** Whether taking pods away from the node could help. */
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
 * One rule about where a pod may be. Pure: looks at the pod and the cluster as they are and changes neither. What the
 * rule needs to know about the whole cluster is worked out once per pod in `prepare`.
 */
export interface Filter {
  readonly name: FilterName
  /** Undefined when the rule has nothing against this pod anywhere. */
  prepare(pod: PodInfo, cluster: ClusterView): NodeCheck | undefined
}
