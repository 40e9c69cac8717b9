// SPDX-License-Identifier: Apache-2.0

import { type EventValue, label, type Pod, type PodCliqueStatus } from '@grove/api'
import { isWanted } from '../layout/clique-instance.ts'
import type { CliqueInstance } from '../layout/layout.ts'
import type { StoredClique, StoredSet } from '../layout/stored.ts'
import type { OperatorContext } from '../operator-context.ts'
import { revisionOf } from '../revision/set-revision.ts'
import { isUpdating } from '../state/child-state.ts'
import { timestamp } from '../state/conditions.ts'
import { cliqueUpdate, cliqueUpdateCondition, withProgress } from '../update/clique-progress.ts'
import { currentHash, isOfWantedTemplate } from '../update/outdated-pods.ts'
import { isPaused } from '../update/set-update.ts'
import { planCliqueStatus } from './status.ts'

export interface ObservedClique {
  readonly status: PodCliqueStatus
  readonly events: readonly EventValue[]
  /** How long the clique's update waits for the template to settle; 0 when it does not. */
  readonly stabilizesInMs: number
}

/** The status that a clique has by these pods. */
export function observeClique(
  set: StoredSet,
  stored: StoredClique,
  instance: CliqueInstance,
  pods: readonly Pod[],
  context: OperatorContext,
): ObservedClique {
  const { plan: next, progress } = cliqueUpdate(set, stored, instance, pods, context.clock.now())
  const clique = withProgress(stored, progress)
  const plan = planCliqueStatus({
    set: set.metadata.name,
    clique,
    pods,
    podTemplateHash: clique.metadata.labels?.[label.podTemplateHash] ?? '',
    generationHash: generationReached(set, clique),
    isCurrent: currentHash(set, stored),
    onTotalLoss: context.configuration.gangTermination.onTotalLoss,
    isLeaving: !isWanted(set, instance, context.caches),
    update: cliqueUpdateCondition(next),
    paused: isPaused(set),
    now: timestamp(context.clock),
  })
  return { ...plan, stabilizesInMs: isUpdating(clique) && next.kind === 'wait' ? (next.retryInMs ?? 0) : 0 }
}

/** The generation that the clique stands for, once its own template is that of the set. */
function generationReached(set: StoredSet, clique: StoredClique): string | undefined {
  return isOfWantedTemplate(set, clique) ? revisionOf(set).generationHash : undefined
}
