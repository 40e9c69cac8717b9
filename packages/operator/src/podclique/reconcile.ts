// SPDX-License-Identifier: Apache-2.0

// One reconcile of a PodClique: observe, sync its pods, report its status.
import { cliqueErrorCode, eventSource } from '@grove/api'
import type { ReconcileContext, ReconcileResult } from '@grove/kube'
import { failedStatus, writeChildStatus } from '../apply/child-status.ts'
import { executeOrThrow } from '../apply/execute.ts'
import { resources } from '../caches/resources.ts'
import { aggregate, throwIfAny } from '../errors/coded-error.ts'
import { cliqueLimitExceeded, isTemplateTooLarge } from '../layout/limits.ts'
import type { CliqueKey } from '../layout/object-key.ts'
import type { OperatorContext } from '../operator-context.ts'
import { withoutForeignFinalizers } from '../ownership/take-over.ts'
import { revisionOf } from '../revision/set-revision.ts'
import { timestamp } from '../state/conditions.ts'
import { currentHash } from '../update/outdated-pods.ts'
import { nextReplacement } from './back-off.ts'
import { observeClique } from './observe.ts'
import { statusReport, unknownClique, updatePlanner } from './plan.ts'
import { type SyncedPods, syncPods, type WaiterTokens } from './sync.ts'

const statusKind = {
  resource: resources.podCliques,
  eventSource: eventSource.podClique,
  errorCode: cliqueErrorCode.listPods,
}

const nothingSynced: SyncedPods = { failures: [], sliceMs: 0 }

export async function reconcileClique(
  key: CliqueKey,
  { signal }: ReconcileContext,
  context: OperatorContext,
  tokens: WaiterTokens,
): Promise<ReconcileResult | undefined> {
  const observed = observeClique(key, context)
  if (observed.kind === 'absent') return undefined
  if (observed.kind === 'terminating') {
    const intents = withoutForeignFinalizers(resources.podCliques, observed.clique)
    await executeOrThrow(intents, context, signal)
    return undefined
  }
  if (observed.kind === 'unknown') {
    const failure = unknownClique(observed)
    const status = failedStatus(statusKind, observed.clique, failure, timestamp(context.clock))
    await executeOrThrow([status], context, signal)
    throw failure
  }
  const { set, clique } = observed.snapshot
  // One time for the whole reconcile: a replacement that becomes due meanwhile must not count as done.
  const now = context.clock.now()
  const planUpdate = updatePlanner(now)
  // A clique whose replica count exceeds its limit keeps its pods. A change of the count enqueues it.
  const limit = cliqueLimitExceeded(clique, context.configuration)
  const isHeld = limit || isTemplateTooLarge(set, context.configuration)
  const synced = isHeld
    ? nothingSynced
    : await syncPods(observed.snapshot, { now, planUpdate, context, tokens, signal })
  const failure = aggregate(synced.failures)
  const after = observeClique(key, context)
  const waitMs =
    after.kind === 'live'
      ? await writeChildStatus(
          statusKind,
          after.snapshot.clique,
          statusReport(after.snapshot, planUpdate, failure ?? limit, context.clock.now()),
          failure ?? limit,
          context,
          signal,
        )
      : 0
  throwIfAny(synced.failures)
  const waits = [synced.sliceMs, waitMs].filter(ms => ms > 0)
  const requeueAt = nextReplacement(context.caches.podsOf(clique), currentHash(revisionOf(set), clique), now)
  return {
    ...(waits.length && { requeueAfter: Math.min(...waits) }),
    ...(requeueAt !== undefined && { requeueAt }),
  }
}
