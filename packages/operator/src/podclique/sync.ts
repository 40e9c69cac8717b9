// SPDX-License-Identifier: Apache-2.0

// Executes the plan of a PodClique step by step: claims, missing pods, surplus pods, the next replacement of an
// update, gates. Each step is planned from a new snapshot, because the caches include the writes of the step before.
import { executeInOrder, executeOrThrow } from '../apply/execute.ts'
import type { Intent } from '../apply/intent.ts'
import { syncSharedClaims } from '../devices/shared-claims.ts'
import { ComponentFailed, failuresOf, throwIfAny } from '../errors/coded-error.ts'
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

export interface SyncOptions {
  /** One time for the whole reconcile, in milliseconds since the epoch. */
  readonly now: number
  readonly planUpdate: UpdatePlanner
  readonly context: OperatorContext
  readonly tokens: WaiterTokens
  readonly signal: AbortSignal
}

export interface SyncedPods {
  readonly failures: readonly unknown[]
  /** The delay after which pods are created that are too many for one reconcile; 0 if none are left. */
  readonly sliceMs: number
}

/** Pods are created only after all of their claims, and replaced only if all others are in sync. */
export async function syncPods(first: CliqueSnapshot, options: SyncOptions): Promise<SyncedPods> {
  const { context, signal } = options
  const claims = await syncSharedClaims(claimsOf(first), context, signal)
  const failures: unknown[] = []
  let hasMore = false
  const attempt = async (step: Promise<void>) => {
    failures.push(...(await failuresOf(step)))
  }
  const createMissing = async (snapshot: CliqueSnapshot) => {
    hasMore = await createPods(snapshot, claims.hasMore, options)
  }
  const hasClaims = claims.failures.length === 0
  if (hasClaims) await attempt(createMissing(first))
  await attempt(deleteSurplus(first, options))
  if (hasClaims && failures.length === 0)
    await attempt(replaceOutdated(observeAgain(first, context), options))
  // Replacements of deleted pods are created in the same reconcile.
  if (hasClaims && failures.length === 0) await attempt(createMissing(observeAgain(first, context)))
  await attempt(removeGates(observeAgain(first, context), options))
  return {
    failures: [
      ...claims.failures.map(failure => new ComponentFailed('ResourceClaim', failure)),
      ...failures.map(failure => new ComponentFailed('Pod', failure)),
    ],
    sliceMs: hasMore ? nextSliceMs : 0,
  }
}

function observeAgain(before: CliqueSnapshot, context: OperatorContext): CliqueSnapshot {
  const observed = observeClique(cliqueKey(before.clique.metadata), context)
  return observed.kind === 'live' ? observed.snapshot : before
}

/** Returns whether there is more to create than one reconcile creates: of the pods, or of the claims they wait for. */
async function createPods(
  snapshot: CliqueSnapshot,
  waitsForClaims: boolean,
  { now, context, tokens, signal }: SyncOptions,
): Promise<boolean> {
  const missing = missingPods(snapshot, now)
  if (!missing) return false
  if (waitsForClaims) return true
  const key = cliqueKey(snapshot.clique.metadata)
  if (missing.needToken && !(await tokens.isFilledFor(snapshot.set, key, signal))) return false
  await executeOrThrow(podCreations(snapshot, missing.scale), context, signal)
  return missing.hasMore
}

/** Deletes surplus pods, and finished pods that are replaced. */
async function deleteSurplus(snapshot: CliqueSnapshot, { now, context, signal }: SyncOptions): Promise<void> {
  const { clique } = snapshot
  const surplus = scaleOf(snapshot, now).remove
  await executeOrThrow(podDeletions(clique, surplus), context, signal)
  context.decisions?.podsReplaced(clique, surplus.filter(isFinished), 'finished')
}

/** Deletes the pods that the update replaces next. */
async function replaceOutdated(
  snapshot: CliqueSnapshot,
  { planUpdate, context, signal }: SyncOptions,
): Promise<void> {
  const steps = replacement(snapshot, planUpdate(snapshot))
  throwIfAny(await executeInOrder(steps, context, { signal }))
  context.decisions?.podsReplaced(snapshot.clique, podsDeletedBy(steps), 'outdated')
}

async function removeGates(snapshot: CliqueSnapshot, { context, signal }: SyncOptions): Promise<void> {
  await executeOrThrow(gateRemovals(snapshot), context, signal)
}

function podsDeletedBy(steps: readonly (readonly Intent[])[]): StoredPod[] {
  return steps.flat().flatMap(intent => (intent.kind === 'delete' ? [intent.object as StoredPod] : []))
}
