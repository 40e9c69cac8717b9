// SPDX-License-Identifier: Apache-2.0

import type { Story } from '../story.ts'
import { autoscalingStories } from './autoscaling.ts'
import { claimLifeStories } from './claim-lives.ts'
import { componentStories } from './components.ts'
import { deletionStories } from './deletion.ts'
import { deletionOrderStories } from './deletion-order.ts'
import { departureStories } from './departures.ts'
import { deployStories } from './deploy.ts'
import { discoveryStories } from './discovery.ts'
import { failingPodStories } from './failing-pods.ts'
import { gangStepStories } from './gang-steps.ts'
import { gangTerminationStories } from './gang-termination.ts'
import { gangStories } from './gangs.ts'
import { hugeCountStories } from './huge-counts.ts'
import { identityStories } from './identity.ts'
import { interruptedUpdateStories } from './interrupted-updates.ts'
import { limitStories } from './limits.ts'
import { lostCapacityStories } from './lost-capacity.ts'
import { mnnvlStories } from './mnnvl.ts'
import { obstacleStories } from './obstacles.ts'
import { ownershipStories } from './ownership.ts'
import { placeStories } from './places.ts'
import { playgroundStories } from './playground.ts'
import { podStories } from './pods.ts'
import { rapidEditStories } from './rapid-edits.ts'
import { replicaCountStories } from './replica-counts.ts'
import { reservedLabelStories } from './reserved-labels.ts'
import { resourceSharingStories } from './resource-sharing.ts'
import { revisionStories } from './revisions.ts'
import { scalingStories } from './scaling.ts'
import { scalingStepStories } from './scaling-steps.ts'
import { schedulerStories } from './schedulers.ts'
import { setStatusStories } from './set-status.ts'
import { startupOrderStories } from './startup-order.ts'
import { steeredUpdateStories } from './steered-updates.ts'
import { strangeStateStories } from './strange-states.ts'
import { surgeUpdateStories } from './surge-updates.ts'
import { takeOverStories } from './take-over.ts'
import { templateStories } from './templates.ts'
import { updateStepStories } from './update-steps.ts'
import { updateStories } from './updates.ts'

export const stories: readonly Story[] = [
  ...deployStories,
  ...scalingStories,
  ...scalingStepStories,
  ...podStories,
  ...deletionStories,
  ...deletionOrderStories,
  ...ownershipStories,
  ...departureStories,
  ...componentStories,
  ...placeStories,
  ...setStatusStories,
  ...obstacleStories,
  ...strangeStateStories,
  ...reservedLabelStories,
  ...updateStories,
  ...templateStories,
  ...updateStepStories,
  ...steeredUpdateStories,
  ...surgeUpdateStories,
  ...gangStories,
  ...interruptedUpdateStories,
  ...gangTerminationStories,
  ...lostCapacityStories,
  ...failingPodStories,
  ...resourceSharingStories,
  ...claimLifeStories,
  ...takeOverStories,
  ...revisionStories,
  ...mnnvlStories,
  ...autoscalingStories,
  ...replicaCountStories,
  ...identityStories,
  ...discoveryStories,
  ...playgroundStories,
  ...rapidEditStories,
  ...schedulerStories,
  ...gangStepStories,
  ...hugeCountStories,
]

/** Stories that need more of the nodes than every cluster's can do. */
export const embeddedStories: readonly Story[] = startupOrderStories

/** Stories of what the embedded cluster does not enforce. */
export const kubernetesStories: readonly Story[] = limitStories
