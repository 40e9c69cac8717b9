// SPDX-License-Identifier: Apache-2.0

// One reconcile of a PodClique: claims, pods, the next step of an update, gates, status.
import { cliqueErrorCode, eventSource, type PodCliqueStatus } from '@grove/api'
import type { ReconcileContext, ReconcileResult } from '@grove/kube'
import { writeChildStatus } from '../apply/child-status.ts'
import { execute, executeInOrder } from '../apply/execute.ts'
import type { Intent } from '../apply/intent.ts'
import { mostCreated } from '../apply/writes.ts'
import { resources } from '../caches/resources.ts'
import { syncSharedClaims } from '../devices/shared-claims.ts'
import { cliqueErrors } from '../errors/catalogue.ts'
import { ComponentFailed, lastErrorsOf, throwIfAny } from '../errors/coded-error.ts'
import { cliqueLimitExceeded, isTemplateTooLarge } from '../layout/limits.ts'
import { keyOf, type ObjectKey } from '../layout/object-key.ts'
import type { StoredClique, StoredSet } from '../layout/stored.ts'
import type { OperatorContext } from '../operator-context.ts'
import { withoutForeignFinalizers } from '../ownership/take-over.ts'
import { revisionOf } from '../revision/set-revision.ts'
import { isUpdating } from '../state/child-state.ts'
import { endsBreach, timestamp } from '../state/conditions.ts'
import { planOnce } from '../update/child-update.ts'
import { type CliqueUpdate, planCliqueUpdate } from '../update/clique-update.ts'
import { currentHash } from '../update/outdated-pods.ts'
import { nextReplacement } from './back-off.ts'
import { type CliqueSnapshot, type ObservedClique, observeClique } from './observe.ts'
import {
  claimsOf,
  gateRemovals,
  planStatus,
  podCreations,
  podDeletions,
  replacement,
  scaleOf,
} from './plan.ts'

/** The token that start-up waiters need before their pods are created. */
export interface WaiterTokens {
  /** Returns whether the token exists. If not, the clique is enqueued again as soon as it does. */
  isFilledFor(set: StoredSet, clique: ObjectKey, signal: AbortSignal): Promise<boolean>
}

type UpdatePlanner = (snapshot: CliqueSnapshot) => CliqueUpdate

export async function reconcileClique(
  key: ObjectKey,
  { signal }: ReconcileContext,
  context: OperatorContext,
  tokens: WaiterTokens,
): Promise<ReconcileResult | undefined> {
  const observed = observeClique(key, context)
  if (observed.kind === 'absent') return undefined
  if (observed.kind === 'terminating') {
    const intents = withoutForeignFinalizers(resources.podCliques, observed.clique)
    throwIfAny((await execute(intents, context, { signal })).failures)
    return undefined
  }
  if (observed.kind === 'unknown') return failUnknown(observed.set, observed.clique, context, signal)
  const { set, clique } = observed.snapshot
  // One time for the whole reconcile: a replacement that falls due meanwhile must not count as done.
  const now = context.clock.now()
  const planUpdate: UpdatePlanner = planOnce(
    ({ set, clique, pods }) => [set, clique, ...pods],
    ({ set, clique, instance, pods }) => planCliqueUpdate(set, clique, instance, pods, now),
  )
  let failure: unknown
  let awaitedMs = 0
  // A clique whose replica count is above its limit keeps its pods. A change of the count enqueues it.
  const limit = cliqueLimitExceeded(clique, context.configuration)
  if (!limit && !isTemplateTooLarge(set, context.configuration)) {
    try {
      awaitedMs = await syncPods(observed.snapshot, now, planUpdate, context, tokens, signal)
    } catch (error) {
      failure = error
    }
  }
  const waitMs = await updateStatus(
    observeClique(key, context),
    failure ?? limit,
    planUpdate,
    context,
    signal,
  )
  if (limit?.isNew(clique.status?.lastErrors)) context.events.emit(clique, eventSource.podClique, limit.event)
  if (failure) throw failure
  const awaited = [awaitedMs, waitMs].filter(ms => ms > 0)
  const requeueAt = nextReplacement(context.caches.podsOf(clique), currentHash(revisionOf(set), clique), now)
  return {
    ...(awaited.length && { requeueAfter: Math.min(...awaited) }),
    ...(requeueAt !== undefined && { requeueAt }),
  }
}

async function failUnknown(
  set: StoredSet,
  clique: StoredClique,
  context: OperatorContext,
  signal: AbortSignal,
): Promise<never> {
  const error = cliqueErrors.unknownClique(keyOf(set), clique.metadata.name)()
  const failure = new ComponentFailed('Pod', error)
  const lastErrors = lastErrorsOf(
    failure,
    cliqueErrorCode.getTemplate,
    timestamp(context.clock),
    clique.status?.lastErrors,
  )
  const status = { ...clique.status, lastErrors }
  const intent: Intent = { kind: 'writeStatus', resource: resources.podCliques, object: clique, status }
  throwIfAny((await execute([intent], context, { signal })).failures)
  throw failure
}

/** Delay before the next slice of pods is created. */
const nextSliceMs = 1

/** Returns the delay after which creations continue that are too many for one reconcile. */
async function syncPods(
  first: CliqueSnapshot,
  now: number,
  planUpdate: UpdatePlanner,
  context: OperatorContext,
  tokens: WaiterTokens,
  signal: AbortSignal,
): Promise<number> {
  const key = keyOf(first.clique)
  const claims = await syncSharedClaims(claimsOf(first), context, signal)
  const failures: unknown[] = claims.failures.map(failure => new ComponentFailed('ResourceClaim', failure))
  const note = (more: readonly unknown[]) =>
    void failures.push(...more.map(failure => new ComponentFailed('Pod', failure)))
  let requeueAfterMs = 0
  // The caches include the operator's own writes.
  const observeAgain = (): CliqueSnapshot => {
    const observed = observeClique(key, context)
    return observed.kind === 'live' ? observed.snapshot : first
  }
  // Pods are created only after all of their claims. Existing pods are synced in any case.
  const createMissing = async (snapshot: CliqueSnapshot) => {
    const scale = scaleOf(snapshot, now)
    if (scale.create.length === 0 || failures.length > 0 || !snapshot.isWanted) return
    // The end of the removal enqueues the clique.
    if (snapshot.isBeingRemoved) return
    requeueAfterMs = claims.hasMore || scale.create.length >= mostCreated ? nextSliceMs : 0
    if (claims.hasMore) return
    // A kubelet mounts a Secret without a token as it is and reads it again much later.
    const needsToken = (snapshot.clique.spec.startsAfter ?? []).length > 0
    if (needsToken && !(await tokens.isFilledFor(snapshot.set, key, signal))) {
      requeueAfterMs = 0
      return
    }
    note(await failuresOfCreations(snapshot, scale))
  }
  const failuresOfCreations = async (snapshot: CliqueSnapshot, scale: ReturnType<typeof scaleOf>) => {
    let intents: readonly Intent[]
    try {
      intents = podCreations(snapshot, scale)
    } catch (error) {
      return [error]
    }
    return (await execute(intents, context, { signal })).failures
  }
  const surplus = scaleOf(first, now).remove
  await createMissing(first)
  note((await execute(podDeletions(first.clique, surplus), context, { signal })).failures)
  if (failures.length === 0) {
    const synced = observeAgain()
    note(await executeInOrder(replacement(synced, planUpdate(synced)), context, { signal }))
    // Replaced pods are followed by new ones in the same reconcile.
    await createMissing(observeAgain())
  }
  note((await execute(gateRemovals(observeAgain()), context, { signal })).failures)
  throwIfAny(failures)
  return requeueAfterMs
}

/** Writes the status, at once or paced. Returns how long to wait for that or for the update. */
async function updateStatus(
  observed: ObservedClique,
  failure: unknown,
  planUpdate: UpdatePlanner,
  context: OperatorContext,
  signal: AbortSignal,
): Promise<number> {
  if (observed.kind !== 'live') return 0
  const { snapshot } = observed
  const stored = snapshot.clique
  // A clique whose replica is being deleted loses its pods on purpose: writing each count would cost a write per pod.
  if (failure === undefined && (snapshot.isBeingRemoved || !snapshot.isWanted)) {
    context.statusDebounce.clear(stored.metadata.uid)
    return 0
  }
  const update = planUpdate(snapshot)
  const plan = planStatus(snapshot, update, context.clock.now())
  const isUrgent = (status: PodCliqueStatus) => isUpdating(snapshot.set) || isAwaited(snapshot, status)
  const waitMs = await writeChildStatus(statusKind, { stored, plan, failure, isUrgent }, context, signal)
  return waitMs || update.retryInMs
}

const statusKind = {
  resource: resources.podCliques,
  eventSource: eventSource.podClique,
  errorCode: cliqueErrorCode.listPods,
}

/** Reports whether other objects wait for this status: because the clique serves, or because gangs may follow it. */
function isAwaited({ clique, instance, hasFollowers }: CliqueSnapshot, status: PodCliqueStatus): boolean {
  const minimum = clique.spec.minAvailable ?? clique.spec.replicas
  const before = clique.status
  if (endsBreach(before?.conditions, status.conditions)) return true
  const crosses = (old: number | undefined, now: number, threshold: number) =>
    (old ?? 0) >= threshold !== now >= threshold
  if (crosses(before?.readyReplicas, status.readyReplicas, minimum)) return true
  if (crosses(before?.readyReplicas, status.readyReplicas, clique.spec.replicas)) return true
  return (
    !instance.basePodGang &&
    hasFollowers &&
    crosses(before?.scheduledReplicas, status.scheduledReplicas, minimum)
  )
}
