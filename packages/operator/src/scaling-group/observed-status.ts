// SPDX-License-Identifier: Apache-2.0

import { type EventValue, label, type PodClique, type PodCliqueScalingGroupStatus } from '@grove/api'
import { numberLabel } from '../layout/clique-instance.ts'
import { replicaCount } from '../layout/layout.ts'
import type { StoredClique, StoredScalingGroup, StoredSet } from '../layout/stored.ts'
import type { OperatorContext } from '../operator-context.ts'
import { observeClique } from '../podclique/observed-status.ts'
import { revisionOf } from '../revision/set-revision.ts'
import { isUpdatingGroup } from '../state/child-state.ts'
import { timestamp } from '../state/conditions.ts'
import type { StatusPlanners } from '../termination/confirmation.ts'
import { groupUpdate, groupUpdateCondition, withProgress } from '../update/group-progress.ts'
import { hasOutdatedPods } from '../update/outdated-pods.ts'
import { isPaused } from '../update/set-update.ts'
import { planGroupStatus } from './status.ts'

export interface ObservedGroup {
  readonly status: PodCliqueScalingGroupStatus
  readonly events: readonly EventValue[]
  /** How long the group's update waits for the template to settle; 0 when it does not. */
  readonly stabilizesInMs: number
}

/** The status that a scaling group has by these cliques. */
export function observeGroup(
  set: StoredSet,
  stored: StoredScalingGroup,
  cliques: readonly PodClique[],
  context: OperatorContext,
): ObservedGroup {
  const { plan: next, progress } = groupUpdate(
    set,
    stored,
    cliques,
    clique => hasOutdatedPods(set, clique as StoredClique, context.caches.podsOf(clique)),
    context.clock.now(),
  )
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
  return {
    ...plan,
    stabilizesInMs: isUpdatingGroup(group) && next.kind === 'wait' ? (next.retryInMs ?? 0) : 0,
  }
}

/** The statuses of groups and cliques by pods that are not those of the cache. */
export function statusPlanners(context: OperatorContext): StatusPlanners {
  return {
    ofClique: (set, clique, instance, pods) => observeClique(set, clique, instance, pods, context).status,
    ofGroup: (set, group, cliques) => observeGroup(set, group, cliques, context).status,
  }
}
