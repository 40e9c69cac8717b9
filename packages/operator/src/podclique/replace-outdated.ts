// SPDX-License-Identifier: Apache-2.0

// Carries out the update of a standalone clique: what is to go is written down before it is told to go, so
// that an operator that comes after us neither forgets it nor takes another one beside it.
import type { PodClique, PodCliqueStatus } from '@grove/api'
import type { Stored } from '@grove/kube'
import { writeStatus } from '../apply/status-write.ts'
import { resources } from '../caches/resources.ts'
import type { CliqueInstance } from '../layout/layout.ts'
import type { StoredClique, StoredSet } from '../layout/stored.ts'
import type { OperatorContext } from '../operator-context.ts'
import { indexOf } from '../state/pod-state.ts'
import { cliqueUpdate, isOwnUpdate, select, withoutDeleted, withProgress } from '../update/clique-progress.ts'
import { removePods } from './pod-removal.ts'

/** Replaces what is to be replaced next; returns what went wrong. */
export async function replaceOutdated(
  set: StoredSet,
  clique: StoredClique,
  instance: CliqueInstance,
  context: OperatorContext,
  signal: AbortSignal,
): Promise<unknown[]> {
  if (!isOwnUpdate(set, clique, instance)) return []
  const { caches } = context
  const pods = caches.podsOf(clique)
  const { plan, progress } = cliqueUpdate(set, clique, instance, pods, context.clock.now())
  const write = (status: PodCliqueStatus | undefined) =>
    writeStatus(caches, resources.podCliques, clique as Stored<PodClique>, status, { signal })
  if (plan.kind === 'discard') {
    const status = withoutDeleted(clique.status, pods, plan.pods)
    // Only a count of zero is read as a loss.
    if (status?.scheduledReplicas === 0) await write(status)
    return removePods(clique, plan.pods, context, signal)
  }
  if (plan.kind !== 'replace' || !progress) return []
  const selection = select(progress.readyPodsSelectedToUpdate, plan.pod.metadata.name, indexOf(plan.pod))
  const { status } = withProgress(clique, { ...progress, readyPodsSelectedToUpdate: selection })
  await write(withoutDeleted(status, pods, [plan.pod]))
  return removePods(clique, [plan.pod], context, signal)
}
