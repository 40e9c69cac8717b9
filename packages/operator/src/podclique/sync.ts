// SPDX-License-Identifier: Apache-2.0

// Executes the plan of a PodClique step by step: claims, missing pods, surplus pods, the next replacement of an
// update, gates. Each step is planned from a new snapshot, because the caches include the writes of the step before.
import type { ReconcileContext } from '@grove/kube'
import { execute, executeInOrder } from '../apply/execute.ts'
import type { Intent } from '../apply/intent.ts'
import { syncSharedClaims } from '../devices/shared-claims.ts'
import { ComponentFailed, throwIfAny } from '../errors/coded-error.ts'
import { type CliqueKey, cliqueKey } from '../layout/object-key.ts'
import type { StoredPod, StoredSet } from '../layout/stored.ts'
import type { OperatorContext } from '../operator-context.ts'
import { isFinished } from '../state/pod-state.ts'
import { nextSliceMs } from '../timings/timings.ts'
import { type CliqueSnapshot, observeClique } from './observe.ts'
import {
  claimsOf,
  gateRemovals,
  missingPods,
  podCreations,
  podDeletions,
  replacement,
  scaleOf,
  type UpdatePlanner,
} from './plan.ts'

/** Ensures the token that startup waiters need before their pods are created. */
export interface WaiterTokens {
  /** Returns whether the token exists. If not, the clique is enqueued again as soon as it does. */
  isFilledFor(set: StoredSet, clique: CliqueKey, signal: AbortSignal): Promise<boolean>
}

/** Returns the delay after which the next slice of pods is created; 0 if no pods are left to create. */
export async function syncPods(
  first: CliqueSnapshot,
  now: number,
  planUpdate: UpdatePlanner,
  context: OperatorContext,
  tokens: WaiterTokens,
  { signal }: Pick<ReconcileContext, 'signal'>,
): Promise<number> {
  const key = cliqueKey(first.clique.metadata)
  const claims = await syncSharedClaims(claimsOf(first), context, signal)
  const failures: unknown[] = claims.failures.map(failure => new ComponentFailed('ResourceClaim', failure))
  const note = (more: readonly unknown[]) =>
    void failures.push(...more.map(failure => new ComponentFailed('Pod', failure)))
  const send = async (intents: readonly Intent[]) =>
    note((await execute(intents, context, { signal })).failures)
  const observeAgain = (): CliqueSnapshot => {
    const observed = observeClique(key, context)
    return observed.kind === 'live' ? observed.snapshot : first
  }
  let hasMore = false
  // Pods are created only after all of their claims. Existing pods are synced in any case.
  const createMissing = async (snapshot: CliqueSnapshot) => {
    const missing = failures.length === 0 ? missingPods(snapshot, now) : undefined
    if (!missing) return
    hasMore = claims.hasMore || missing.hasMore
    if (claims.hasMore) return
    if (missing.needToken && !(await tokens.isFilledFor(snapshot.set, key, signal))) {
      hasMore = false
      return
    }
    try {
      await send(podCreations(snapshot, missing.scale))
    } catch (error) {
      note([error])
    }
  }
  const surplus = scaleOf(first, now).remove
  await createMissing(first)
  await send(podDeletions(first.clique, surplus))
  if (failures.length === 0) {
    context.decisions?.podsReplaced(first.clique, surplus.filter(isFinished), 'finished')
    const synced = observeAgain()
    const steps = replacement(synced, planUpdate(synced))
    note(await executeInOrder(steps, context, { signal }))
    if (failures.length === 0) context.decisions?.podsReplaced(first.clique, podsDeletedBy(steps), 'outdated')
    // Replacements of deleted pods are created in the same reconcile.
    await createMissing(observeAgain())
  }
  await send(gateRemovals(observeAgain()))
  throwIfAny(failures)
  return hasMore ? nextSliceMs : 0
}

function podsDeletedBy(steps: readonly (readonly Intent[])[]): StoredPod[] {
  return steps.flat().flatMap(intent => (intent.kind === 'delete' ? [intent.object as StoredPod] : []))
}
