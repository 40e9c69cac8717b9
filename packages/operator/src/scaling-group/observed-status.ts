// SPDX-License-Identifier: Apache-2.0

import { type EventValue, label, type PodClique, type PodCliqueScalingGroupStatus } from '@grove/api'
import { numberLabel } from '../clique-instance.ts'
import { replicaCount } from '../layout.ts'
import { type OperatorContext, timestamp } from '../operator-context.ts'
import { isPaused } from '../podcliqueset/update.ts'
import { revisionOf } from '../revision-of-set.ts'
import type { StoredScalingGroup, StoredSet } from '../stored.ts'
import { groupUpdate, withProgress } from './replace-outdated.ts'
import { isUpdatingGroup, planGroupStatus } from './status.ts'
import { groupUpdateCondition } from './update-progress.ts'

export interface ObservedGroup {
  readonly status: PodCliqueScalingGroupStatus
  readonly events: readonly EventValue[]
  /** How long the group's update waits for the template to settle; 0 when it does not. */
  readonly settlesInMs: number
}

/** The status that a scaling group has by these cliques. */
export function observeGroup(
  set: StoredSet,
  stored: StoredScalingGroup,
  cliques: readonly PodClique[],
  context: OperatorContext,
): ObservedGroup {
  const { plan: next, progress } = groupUpdate(set, stored, cliques, context)
  const group = withProgress(stored, progress)
  const plan = planGroupStatus({
    set: set.metadata.name,
    group,
    cliques,
    revision: revisionOf(set),
    onTotalLoss: context.configuration.gangTermination.onTotalLoss,
    isLeaving: (numberLabel(stored.metadata.labels, label.setReplicaIndex) ?? 0) >= replicaCount(set),
    update: groupUpdateCondition(next),
    paused: isPaused(set),
    now: timestamp(context.clock),
  })
  return { ...plan, settlesInMs: isUpdatingGroup(group) && next.kind === 'wait' ? (next.retryInMs ?? 0) : 0 }
}
