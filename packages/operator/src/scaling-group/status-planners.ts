// SPDX-License-Identifier: Apache-2.0

import { isWanted } from '../layout/clique-instance.ts'
import type { OperatorContext } from '../operator-context.ts'
import { planStatus as planCliqueStatus } from '../podclique/plan.ts'
import type { StatusPlanners } from '../termination/confirmation.ts'
import { hasOutdatedPods } from '../update/outdated-pods.ts'
import { planStatus } from './plan.ts'

/** The statuses that cliques and groups would have by pods that gang termination has listed itself. */
export function statusPlanners({ caches, configuration, clock }: OperatorContext): StatusPlanners {
  return {
    ofClique: (set, clique, instance, pods) =>
      planCliqueStatus(
        { set, clique, instance, pods, isWanted: isWanted(set, instance, caches), configuration },
        clock.now(),
      ).status,
    ofGroup: (set, group, cliques) =>
      planStatus(
        {
          set,
          group,
          cliques,
          hasOutdatedPods: clique => hasOutdatedPods(set, clique, caches.podsOf(clique)),
          configuration,
        },
        clock.now(),
      ).status,
  }
}
