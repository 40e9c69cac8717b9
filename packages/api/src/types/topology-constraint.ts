// SPDX-License-Identifier: Apache-2.0

/** Constrains the placement of the pods of each replica, independently for each replica. */
export interface TopologyConstraint {
  /** The ClusterTopologyBinding to use. Inherited from the level above if absent. */
  topologyName?: string
  pack?: TopologyPack
  /** @deprecated older name of `pack.required`, rejected in new objects. */
  packDomain?: string
}

/** Domain names such as `rack` or `zone`, as defined by the ClusterTopologyBinding. At least one is set. */
export interface TopologyPack {
  /** Pods are not scheduled unless all fit into one such domain. */
  required?: string
  /** Tried first, and ignored if the pods do not fit. */
  preferred?: string
}
