// SPDX-License-Identifier: Apache-2.0

// Carries out the update of a scaling group. The selection is written before a serving replica is deleted, so that an
// operator that takes over neither forgets the replica nor deletes another one alongside it.
import type { PodCliqueScalingGroup } from '@grove/api'
import type { Stored } from '@grove/kube'
import { writeStatus } from '../apply/status-write.ts'
import { resources } from '../caches/resources.ts'
import { ReconcileFailed } from '../errors/coded-error.ts'
import type { StoredScalingGroup, StoredSet } from '../layout/stored.ts'
import type { OperatorContext } from '../operator-context.ts'
import { type GroupUpdate, replicasToDelete, statusWithSelection } from '../update/group-update.ts'
import { withoutDeleted, writeOffReplicas } from './planned-loss.ts'
import { removeReplicas } from './replica-removal.ts'

/** Deletes the replicas that the update replaces next. */
export async function replaceOutdated(
  set: StoredSet,
  group: StoredScalingGroup,
  update: GroupUpdate,
  context: OperatorContext,
  signal: AbortSignal,
): Promise<void> {
  const deleted = replicasToDelete(update)
  if (deleted.length === 0) return
  const status = statusWithSelection(group, update)
  if (status)
    await writeStatus(
      context.caches,
      resources.podCliqueScalingGroups,
      group as Stored<PodCliqueScalingGroup>,
      withoutDeleted(group, status, deleted, context),
      { signal },
    )
  await writeOffReplicas(group, deleted, context, signal)
  const failures = await removeReplicas(set, group, deleted, context, signal)
  if (failures.length) throw new ReconcileFailed(failures)
}
