// SPDX-License-Identifier: Apache-2.0

import type { PodClique } from '@grove/api'
import { isWanted } from '../layout/clique-instance.ts'
import type { OperatorContext } from '../operator-context.ts'
import { planStatus as planCliqueStatus } from '../podclique/plan.ts'
import { revisionOf } from '../revision/set-revision.ts'
import type { StatusPlanners } from '../termination/confirmation.ts'
import { planCliqueUpdate } from '../update/clique-update.ts'
import { planGroupUpdate } from '../update/group-update.ts'
import { hasOutdatedPods } from '../update/outdated-pods.ts'
import { planStatus } from './plan.ts'

/** Plans the statuses of cliques and groups for pods that gang termination has listed itself. */
export function statusPlanners({ caches, configuration, clock }: OperatorContext): StatusPlanners {
  return {
    ofClique: (set, clique, instance, pods) => {
      const now = clock.now()
      const snapshot = {
        set,
        clique,
        instance,
        pods,
        isWanted: isWanted(set, instance, caches),
        configuration,
      }
      return planCliqueStatus(snapshot, planCliqueUpdate(set, clique, instance, pods, now), now).status
    },
    ofGroup: (set, group, cliques) => {
      const now = clock.now()
      const hasOutdated = (clique: PodClique) =>
        hasOutdatedPods(revisionOf(set), clique, caches.podsOf(clique))
      const update = planGroupUpdate(set, group, cliques, hasOutdated, now)
      return planStatus({ set, group, cliques, configuration }, update, now).status
    },
  }
}
