// SPDX-License-Identifier: Apache-2.0

import type { Pod } from '@grove/api'
import { isWanted } from '../layout/clique-instance.ts'
import type { CliqueInstance } from '../layout/layout.ts'
import type { StoredClique, StoredSet } from '../layout/stored.ts'
import type { OperatorContext } from '../operator-context.ts'
import { templateHashOfClique } from '../revision/revision.ts'
import { revisionOf } from '../revision/set-revision.ts'
import { timestamp } from '../state/conditions.ts'
import { hasWantedTemplate } from '../update/clique-state.ts'
import { type CliqueUpdate, withCliqueProgress } from '../update/clique-update.ts'
import { currentHash } from '../update/outdated-pods.ts'
import { isPaused } from '../update/set-progress.ts'
import { type CliqueStatusPlan, planCliqueStatus } from './status.ts'

/** The status of a clique with these pods and this update. */
export function observeClique(
  set: StoredSet,
  clique: StoredClique,
  instance: CliqueInstance,
  pods: readonly Pod[],
  update: CliqueUpdate,
  context: OperatorContext,
): CliqueStatusPlan {
  const revision = revisionOf(set)
  return planCliqueStatus({
    set: set.metadata.name,
    clique: withCliqueProgress(clique, update),
    pods,
    podTemplateHash: templateHashOfClique(clique),
    // A clique reaches the generation when it has the template of the set.
    generationHash: hasWantedTemplate(clique, revision) ? revision.generationHash : undefined,
    isCurrent: currentHash(revision, clique),
    onTotalLoss: context.configuration.gangTermination.onTotalLoss,
    isLeaving: !isWanted(set, instance, context.caches),
    update: update.condition,
    paused: isPaused(set),
    now: timestamp(context.clock),
  })
}
