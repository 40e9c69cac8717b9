// SPDX-License-Identifier: Apache-2.0

// Replicas that the operator deletes itself are no loss. They leave the scheduled count before they are deleted, so the
// next status does not report AllScheduledReplicasLost, whichever operator writes it.
import type { PodCliqueScalingGroup, PodCliqueScalingGroupStatus } from '@grove/api'
import type { Stored } from '@grove/kube'
import { writeStatus } from '../apply/status-write.ts'
import { resources } from '../caches/resources.ts'
import { keyOf, refOf } from '../layout/object-key.ts'
import type { StoredScalingGroup } from '../layout/stored.ts'
import type { OperatorContext } from '../operator-context.ts'
import { scheduledWithout } from './status.ts'

/** The status in which these replicas are not scheduled any more. */
export function withoutDeleted<T extends PodCliqueScalingGroupStatus | undefined>(
  group: StoredScalingGroup,
  status: T,
  replicas: readonly number[],
  { caches }: OperatorContext,
): T {
  if (!status) return status
  const cliques = caches.cliques.byIndex('controller', group.metadata.uid)
  const left = scheduledWithout(group, cliques, replicas)
  return { ...status, scheduledReplicas: Math.min(status.scheduledReplicas, left) }
}

/** Writes that status where it matters: only a count of zero is read as a loss. */
export async function writeOffReplicas(
  group: StoredScalingGroup,
  replicas: readonly number[],
  context: OperatorContext,
  signal: AbortSignal,
): Promise<void> {
  const stored = context.caches.groups.get(refOf(keyOf(group))) as StoredScalingGroup | undefined
  if (replicas.length === 0 || !stored?.status?.scheduledReplicas) return
  const status = withoutDeleted(stored, stored.status, replicas, context)
  if (status.scheduledReplicas > 0) return
  const resource = resources.podCliqueScalingGroups
  await writeStatus(context.caches, resource, stored as Stored<PodCliqueScalingGroup>, status, { signal })
}
