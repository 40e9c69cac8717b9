// SPDX-License-Identifier: Apache-2.0

export type { Node } from '../controllers/kinds.ts'
export { nodeConditions } from './conditions.ts'
export { Fleet } from './fleet.ts'
export { nodeOf } from './node.ts'
export { stoppedAnnotation } from './stopped.ts'
export {
  defaultTopologyLabels,
  type NodeGroup,
  type NodePlan,
  type NodeShape,
  plainNodes,
  planNodes,
  type Taint,
  type Topology,
  type TopologyLabels,
} from './topology.ts'
