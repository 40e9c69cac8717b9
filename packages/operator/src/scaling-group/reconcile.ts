// SPDX-License-Identifier: Apache-2.0

// One reconcile of a PodCliqueScalingGroup: observe, sync its members, report its status.
import { eventSource, scalingGroupErrorCode } from '@grove/api'
import type { ReconcileContext, ReconcileResult } from '@grove/kube'
import { writeChildStatus } from '../apply/child-status.ts'
import { executeOrThrow } from '../apply/execute.ts'
import { resources } from '../caches/resources.ts'
import { aggregate, throwIfAny } from '../errors/coded-error.ts'
import { isTemplateTooLarge } from '../layout/limits.ts'
import type { GroupKey } from '../layout/object-key.ts'
import type { OperatorContext } from '../operator-context.ts'
import { withoutForeignFinalizers } from '../ownership/take-over.ts'
import { observeGroup } from './observe.ts'
import { limitOf, statusReport, updatePlanner } from './plan.ts'
import { type SyncedGroup, syncGroup } from './sync.ts'

const statusKind = {
  resource: resources.podCliqueScalingGroups,
  eventSource: eventSource.podCliqueScalingGroup,
  errorCode: scalingGroupErrorCode.listCliques,
}

const nothingSynced: SyncedGroup = { failures: [], sliceMs: 0, deadline: undefined }

export async function reconcileScalingGroup(
  key: GroupKey,
  { signal }: ReconcileContext,
  context: OperatorContext,
): Promise<ReconcileResult | undefined> {
  const observed = observeGroup(key, context)
  if (observed.kind === 'absent') return undefined
  if (observed.kind === 'terminating') {
    const intents = withoutForeignFinalizers(resources.podCliqueScalingGroups, observed.group)
    await executeOrThrow(intents, context, signal)
    return undefined
  }
  const { snapshot } = observed
  const planUpdate = updatePlanner(context.clock.now())
  const limit = limitOf(snapshot)
  const isHeld = limit || isTemplateTooLarge(snapshot.set, context.configuration)
  const synced = isHeld ? nothingSynced : await syncGroup(snapshot, planUpdate, context, signal)
  const failure = aggregate(synced.failures)
  const after = observeGroup(key, context)
  const waitMs =
    after.kind === 'live'
      ? await writeChildStatus(
          statusKind,
          after.snapshot.group,
          statusReport(after.snapshot, planUpdate, failure ?? limit, context.clock.now()),
          failure ?? limit,
          context,
          signal,
        )
      : 0
  throwIfAny(synced.failures)
  const waits = [synced.sliceMs, waitMs].filter(ms => ms > 0)
  return {
    ...(synced.deadline !== undefined && { requeueAt: synced.deadline }),
    ...(waits.length && { requeueAfter: Math.min(...waits) }),
  }
}
