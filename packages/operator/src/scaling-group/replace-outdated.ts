// SPDX-License-Identifier: Apache-2.0

// Carries out the update of a scaling group: the serving replica that is to go is written down before it is
// told to go, so that an operator that comes after us neither forgets it nor takes another one beside it.
import type { PodCliqueScalingGroup } from '@grove/api'
import type { Stored } from '@grove/kube'
import { writeStatus } from '../apply/status-write.ts'
import { resources } from '../caches/resources.ts'
import { ReconcileFailed } from '../errors/coded-error.ts'
import { keyOf, refOf } from '../layout/object-key.ts'
import type { StoredClique, StoredScalingGroup, StoredSet } from '../layout/stored.ts'
import type { OperatorContext } from '../operator-context.ts'
import { groupUpdate, isOwnTurn, selectReplica, withProgress } from '../update/group-progress.ts'
import { hasOutdatedPods } from '../update/outdated-pods.ts'
import { withoutDeleted, writeOffReplicas } from './planned-loss.ts'
import { removeReplicas } from './replica-removal.ts'

/** Replaces what is to be replaced next, if it is this group's turn. */
export async function replaceOutdated(
  set: StoredSet,
  group: StoredScalingGroup,
  context: OperatorContext,
  signal: AbortSignal,
): Promise<void> {
  if (!isOwnTurn(set, group)) return
  const { caches } = context
  const stored = (caches.groups.get(refOf(keyOf(group))) as StoredScalingGroup | undefined) ?? group
  const { plan, progress } = groupUpdate(
    set,
    stored,
    caches.cliques.byIndex('controller', group.metadata.uid),
    clique => hasOutdatedPods(set, clique as StoredClique, caches.podsOf(clique)),
    context.clock.now(),
  )
  if (plan.kind === 'replace' && progress) {
    const selection = selectReplica(progress.readyReplicaIndicesSelectedToUpdate, plan.replica)
    const { status } = withProgress(stored, { ...progress, readyReplicaIndicesSelectedToUpdate: selection })
    await writeStatus(
      caches,
      resources.podCliqueScalingGroups,
      stored as Stored<PodCliqueScalingGroup>,
      withoutDeleted(stored, status, [plan.replica], context),
      { signal },
    )
  }
  const going = plan.kind === 'replace' ? [plan.replica] : plan.kind === 'discard' ? plan.replicas : []
  await writeOffReplicas(stored, going, context, signal)
  const failures = await removeReplicas(set, group, going, context, signal)
  if (failures.length) throw new ReconcileFailed(failures)
}
