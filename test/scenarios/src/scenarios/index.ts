// SPDX-License-Identifier: Apache-2.0

import type { Scenario } from '../scenario.ts'
import { autoscalingScenarios } from './autoscaling.ts'
import { claimLifecycleScenarios } from './claim-lifecycle.ts'
import { componentScenarios } from './components.ts'
import { conditionScenarios } from './conditions.ts'
import { deletionScenarios } from './deletion.ts'
import { deletionOrderScenarios } from './deletion-order.ts'
import { deployScenarios } from './deploy.ts'
import { discoveryScenarios } from './discovery.ts'
import { failingPodScenarios } from './failing-pods.ts'
import { gangStepScenarios } from './gang-steps.ts'
import { gangTerminationScenarios } from './gang-termination.ts'
import { gangScenarios } from './gangs.ts'
import { handbackScenarios } from './handback.ts'
import { hugeCountScenarios } from './huge-counts.ts'
import { identityScenarios } from './identity.ts'
import { interruptedUpdateScenarios } from './interrupted-updates.ts'
import { limitScenarios } from './limits.ts'
import { lostCapacityScenarios } from './lost-capacity.ts'
import { mnnvlScenarios } from './mnnvl.ts'
import { obstacleScenarios } from './obstacles.ts'
import { ownershipScenarios } from './ownership.ts'
import { playgroundScenarios } from './playground.ts'
import { podScenarios } from './pods.ts'
import { rapidEditScenarios } from './rapid-edits.ts'
import { replicaCountScenarios } from './replica-counts.ts'
import { reservedLabelScenarios } from './reserved-labels.ts'
import { resourceSharingScenarios } from './resource-sharing.ts'
import { revisionScenarios } from './revisions.ts'
import { scaledUpdateScenarios } from './scaled-updates.ts'
import { scalingScenarios } from './scaling.ts'
import { scalingStepScenarios } from './scaling-steps.ts'
import { schedulerScenarios } from './schedulers.ts'
import { setStatusScenarios } from './set-status.ts'
import { startupOrderScenarios } from './startup-order.ts'
import { steeredUpdateScenarios } from './steered-updates.ts'
import { strangeStateScenarios } from './strange-states.ts'
import { successiveLossScenarios } from './successive-losses.ts'
import { surgeUpdateScenarios } from './surge-updates.ts'
import { takeOverScenarios } from './take-over.ts'
import { takenNameScenarios } from './taken-names.ts'
import { templateScenarios } from './templates.ts'
import { topologyBindingScenarios } from './topology-bindings.ts'
import { topologyPackingScenarios } from './topology-packing.ts'
import { unusualDeletionScenarios } from './unusual-deletions.ts'
import { updateStepScenarios } from './update-steps.ts'
import { updateScenarios } from './updates.ts'

export const scenarios: readonly Scenario[] = [
  ...deployScenarios,
  ...scalingScenarios,
  ...scalingStepScenarios,
  ...podScenarios,
  ...deletionScenarios,
  ...deletionOrderScenarios,
  ...ownershipScenarios,
  ...unusualDeletionScenarios,
  ...componentScenarios,
  ...takenNameScenarios,
  ...setStatusScenarios,
  ...conditionScenarios,
  ...obstacleScenarios,
  ...strangeStateScenarios,
  ...reservedLabelScenarios,
  ...updateScenarios,
  ...templateScenarios,
  ...updateStepScenarios,
  ...steeredUpdateScenarios,
  ...surgeUpdateScenarios,
  ...gangScenarios,
  ...interruptedUpdateScenarios,
  ...scaledUpdateScenarios,
  ...gangTerminationScenarios,
  ...lostCapacityScenarios,
  ...successiveLossScenarios,
  ...failingPodScenarios,
  ...resourceSharingScenarios,
  ...claimLifecycleScenarios,
  ...takeOverScenarios,
  ...handbackScenarios,
  ...revisionScenarios,
  ...mnnvlScenarios,
  ...autoscalingScenarios,
  ...replicaCountScenarios,
  ...identityScenarios,
  ...discoveryScenarios,
  ...playgroundScenarios,
  ...rapidEditScenarios,
  ...schedulerScenarios,
  ...gangStepScenarios,
  ...topologyPackingScenarios,
  ...topologyBindingScenarios,
  ...hugeCountScenarios,
]

/** Scenarios that need nodes which run init containers. */
export const embeddedScenarios: readonly Scenario[] = startupOrderScenarios

/** Scenarios with limits that the embedded cluster does not enforce. */
export const kubernetesScenarios: readonly Scenario[] = limitScenarios
