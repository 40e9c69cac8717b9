// SPDX-License-Identifier: Apache-2.0

// Carries out the update of a standalone clique. The selection is written before a serving pod is deleted, so that an
// operator that takes over neither forgets the pod nor deletes another one alongside it.
import type { Pod, PodClique } from '@grove/api'
import type { Stored } from '@grove/kube'
import { writeStatus } from '../apply/status-write.ts'
import { resources } from '../caches/resources.ts'
import type { StoredClique } from '../layout/stored.ts'
import type { OperatorContext } from '../operator-context.ts'
import { type CliqueUpdate, statusBeforeDeletion } from '../update/clique-update.ts'
import { removePods } from './pod-removal.ts'

/** Deletes the pods that the update replaces next. Returns the failures. */
export async function replaceOutdated(
  clique: StoredClique,
  pods: readonly Pod[],
  update: CliqueUpdate,
  context: OperatorContext,
  signal: AbortSignal,
): Promise<unknown[]> {
  const { plan } = update
  if (plan.kind !== 'discard' && plan.kind !== 'replace') return []
  const status = statusBeforeDeletion(clique, update, pods)
  if (status)
    await writeStatus(context.caches, resources.podCliques, clique as Stored<PodClique>, status, { signal })
  const deleted = plan.kind === 'discard' ? plan.units : [plan.unit]
  return removePods(
    clique,
    deleted.map(({ pod }) => pod),
    context,
    signal,
  )
}
