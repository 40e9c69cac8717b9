// SPDX-License-Identifier: Apache-2.0

import { label, type PodClique } from '@grove/api'
import { numberLabel } from '../layout/clique-instance.ts'
import { replicaCount } from '../layout/layout.ts'
import type { StoredScalingGroup, StoredSet } from '../layout/stored.ts'
import type { OperatorContext } from '../operator-context.ts'
import { observeClique } from '../podclique/observed-status.ts'
import { revisionOf } from '../revision/set-revision.ts'
import { timestamp } from '../state/conditions.ts'
import type { StatusPlanners } from '../termination/confirmation.ts'
import { planCliqueUpdate } from '../update/clique-update.ts'
import { type GroupUpdate, planGroupUpdate, withGroupProgress } from '../update/group-update.ts'
import { hasOutdatedPods } from '../update/outdated-pods.ts'
import { isPaused } from '../update/set-progress.ts'
import { type GroupStatusPlan, planGroupStatus } from './status.ts'

/** The status of a scaling group with these cliques and this update. */
export function observeGroup(
  set: StoredSet,
  group: StoredScalingGroup,
  cliques: readonly PodClique[],
  update: GroupUpdate,
  context: OperatorContext,
): GroupStatusPlan {
  return planGroupStatus({
    set: set.metadata.name,
    group: withGroupProgress(group, update),
    cliques,
    revision: revisionOf(set),
    onTotalLoss: context.configuration.gangTermination.onTotalLoss,
    isLeaving: (numberLabel(group.metadata.labels, label.setReplicaIndex) ?? 0) >= replicaCount(set),
    update: update.condition,
    paused: isPaused(set),
    now: timestamp(context.clock),
  })
}

/** Plans the update of a group whose pods are those in the cache. */
export function groupUpdatePlanner(set: StoredSet, now: number, { caches }: OperatorContext) {
  const revision = revisionOf(set)
  return (group: StoredScalingGroup, cliques: readonly PodClique[]): GroupUpdate =>
    planGroupUpdate(
      set,
      group,
      cliques,
      clique => hasOutdatedPods(revision, clique, caches.podsOf(clique)),
      now,
    )
}

/** The statuses of groups and cliques with pods that are not those in the cache. */
export function statusPlanners(context: OperatorContext): StatusPlanners {
  const now = context.clock.now()
  return {
    ofClique: (set, clique, instance, pods) => {
      const update = planCliqueUpdate(set, clique, instance, pods, now)
      return observeClique(set, clique, instance, pods, update, context).status
    },
    ofGroup: (set, group, cliques) => {
      const update = groupUpdatePlanner(set, now, context)(group, cliques)
      return observeGroup(set, group, cliques, update, context).status
    },
  }
}
