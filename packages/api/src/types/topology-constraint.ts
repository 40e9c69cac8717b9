// SPDX-License-Identifier: Apache-2.0

/** Where the pods of each replica of the resource should stand, each replica by itself. */
export interface TopologyConstraint {
  /** The ClusterTopologyBinding to use; inherited from the level above when absent. */
  topologyName?: string
  pack?: TopologyPack
  /** @deprecated older spelling of `pack.required`; refused in new objects. */
  packDomain?: string
}

/** Domain names such as `rack` or `zone`, as the ClusterTopologyBinding calls them. At least one is given. */
export interface TopologyPack {
  /** Not scheduled unless all pods fit into one such domain. */
  required?: string
  /** Tried first, given up when it cannot be met. */
  preferred?: string
}
