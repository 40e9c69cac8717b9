// SPDX-License-Identifier: Apache-2.0

// One pass over a PodClique: pods made and removed, gates lifted, status written.
import {
  cliqueErrorCode,
  eventSource,
  label,
  type Pod,
  type PodClique,
  type PodCliqueStatus,
} from '@grove/api'
import type { ReconcileContext, ReconcileResult, Stored } from '@grove/kube'
import { writeChildStatus } from '../apply/child-status.ts'
import { removalAfterMs } from '../apply/removals-under-way.ts'
import { writeStatus } from '../apply/status-write.ts'
import { mostCreated, type Progress } from '../apply/writes.ts'
import { resources } from '../caches/resources.ts'
import { syncSharedClaims } from '../devices/shared-claims.ts'
import {
  CodedError,
  ComponentFailed,
  failuresOf,
  lastErrorsOf,
  ReconcileFailed,
} from '../errors/coded-error.ts'
import { cliqueInstanceOf, isWanted } from '../layout/clique-instance.ts'
import { type CliqueInstance, eachIndex } from '../layout/layout.ts'
import { cliqueLimitExceeded, isTemplateTooLarge } from '../layout/limits.ts'
import { keyOf, type ObjectKey, refOf } from '../layout/object-key.ts'
import type { StoredClique, StoredSet } from '../layout/stored.ts'
import { claimsOfClique } from '../objects/resource-claim.ts'
import type { OperatorContext } from '../operator-context.ts'
import { owningSet } from '../ownership/owner-lookup.ts'
import { isToBeRenamed, releaseForeign } from '../ownership/take-over.ts'
import { revisionOf } from '../revision/set-revision.ts'
import { isUpdating } from '../state/child-state.ts'
import { endsBreach, timestamp } from '../state/conditions.ts'
import { indexOf, isActive } from '../state/pod-state.ts'
import { planOnce } from '../update/child-update.ts'
import { type CliqueUpdate, mayReplacePods, planCliqueUpdate } from '../update/clique-update.ts'
import { currentHash } from '../update/outdated-pods.ts'
import { nextReplacement } from './back-off.ts'
import { observeClique } from './observed-status.ts'
import { createPods } from './pod-creation.ts'
import { releasePods } from './pod-release.ts'
import { removePods } from './pod-removal.ts'
import { replaceOutdated } from './replace-outdated.ts'
import { planScale, type ScalePlan } from './scale.ts'

/** The token that start-up waiters need before their pods are created. */
export interface WaiterTokens {
  /** Returns whether the token exists. If not, the clique is enqueued again as soon as it does. */
  isFilledFor(set: StoredSet, clique: ObjectKey, signal: AbortSignal): Promise<boolean>
}

/** Plans the update of the clique with its pods. */
type UpdatePlanner = (clique: StoredClique, pods: readonly Pod[]) => CliqueUpdate

export async function reconcileClique(
  key: ObjectKey,
  { signal }: ReconcileContext,
  context: OperatorContext,
  tokens: WaiterTokens,
): Promise<ReconcileResult | undefined> {
  const { caches } = context
  const clique = caches.cliques.get(refOf(key)) as StoredClique | undefined
  if (!clique) return undefined
  if (clique.metadata.deletionTimestamp) {
    await releaseForeign(resources.podCliques, clique as Stored<PodClique>, context, signal)
    return undefined
  }
  const set = owningSet(caches, clique)
  // Gone or going: nothing of it is made again; the garbage collector takes the rest.
  if (!set || set.metadata.deletionTimestamp) return undefined
  const instance = cliqueInstanceOf(set, clique)
  if (!instance) return failUnknown(set, clique, context, signal)
  // One time for the whole reconcile: a replacement that falls due meanwhile must not be taken for done.
  const now = context.clock.now()
  const planUpdate: UpdatePlanner = planOnce((of, pods) => planCliqueUpdate(set, of, instance, pods, now))
  let failure: unknown
  let awaitedMs = 0
  // A clique whose count is above its limit keeps what it has; a change of the count wakes it.
  const limit = cliqueLimitExceeded(clique, context.configuration)
  try {
    if (!limit && !isTemplateTooLarge(set, context.configuration))
      awaitedMs = await syncPods(set, clique, instance, now, planUpdate, context, tokens, signal)
  } catch (error) {
    failure = error
  }
  const waitMs = await updateStatus(set, key, instance, failure ?? limit, planUpdate, context, signal)
  if (limit?.isNew(clique.status?.lastErrors)) context.events.emit(clique, eventSource.podClique, limit.event)
  if (failure) throw failure
  const awaited = [awaitedMs, waitMs].filter(ms => ms > 0)
  const requeueAt = nextReplacement(caches.podsOf(clique), currentHash(revisionOf(set), clique), now)
  return {
    ...(awaited.length && { requeueAfter: Math.min(...awaited) }),
    ...(requeueAt !== undefined && { requeueAt }),
  }
}

/** No clique of the set makes this one: its labels were taken from it, or its template was. */
async function failUnknown(
  set: StoredSet,
  clique: StoredClique,
  context: OperatorContext,
  signal: AbortSignal,
): Promise<never> {
  const { name, namespace } = clique.metadata
  const message = `PodCliqueSet ${namespace}/${set.metadata.name} has no clique that makes ${name}`
  const failure = new ComponentFailed('Pod', new CodedError('Sync', cliqueErrorCode.getTemplate, message))
  const lastErrors = lastErrorsOf(
    failure,
    cliqueErrorCode.getTemplate,
    timestamp(context.clock),
    clique.status?.lastErrors,
  )
  const stored = clique as Stored<PodClique>
  const status = { ...clique.status, lastErrors }
  await writeStatus(context.caches, resources.podCliques, stored, status, { signal })
  throw failure
}

/** How soon to create the next slice. */
const nextSliceMs = 1

/** Returns how soon to look again when pods are held back because their replica is being removed, or when there are more
 * to create than one reconcile does. */
async function syncPods(
  set: StoredSet,
  clique: StoredClique,
  instance: CliqueInstance,
  now: number,
  planUpdate: UpdatePlanner,
  context: OperatorContext,
  tokens: WaiterTokens,
  signal: AbortSignal,
): Promise<number> {
  const { caches } = context
  const isCurrent = currentHash(revisionOf(set), clique)
  // Without its claims no pod is made; those that are there are looked after all the same.
  let hasAllClaims = true
  const unclaimed = await failuresOf(
    syncClaims(set, clique, instance, context, signal).then(progress => {
      hasAllClaims = progress === 'complete'
    }),
  )
  const failures = unclaimed.map(failure => new ComponentFailed('ResourceClaim', failure))
  const note = (more: readonly unknown[]) =>
    void failures.push(...more.map(failure => new ComponentFailed('Pod', failure)))
  const plan = (replicas: number) => planScale(replicas, caches.podsOf(clique), isCurrent, now)
  const scale = plan(clique.spec.replicas)
  let awaitedMs = 0
  const make = async (of: StoredClique, { create: indexes, failures: failed }: ScalePlan) => {
    if (indexes.length === 0 || failures.length > 0 || !isWanted(set, instance, caches)) return
    if (context.removals.has(set, instance.setReplica)) {
      awaitedMs = removalAfterMs
      return
    }
    awaitedMs = hasAllClaims && indexes.length < mostCreated ? 0 : nextSliceMs
    if (!hasAllClaims) return
    // A kubelet would mount a Secret without a token as it is, and look at it again much later.
    if (of.spec.startsAfter?.length && !(await tokens.isFilledFor(set, keyOf(of), signal))) {
      awaitedMs = 0
      return
    }
    note(await createPods(set, underOurName(set, of), instance, indexes, context, signal, failed))
  }
  await make(clique, scale)
  note(await removePods(clique, scale.remove, context, signal))
  if (failures.length === 0) {
    const written = (caches.cliques.get(refOf(keyOf(clique))) as StoredClique | undefined) ?? clique
    if (mayReplacePods(set, written, instance)) {
      const pods = caches.podsOf(written)
      note(await replaceOutdated(written, pods, planUpdate(written, pods), context, signal))
    }
    // Create the replacements of deleted pods now, not with the next reconcile.
    await make(written, plan(written.spec.replicas))
  }
  note(await releasePods(clique, instance, context, signal))
  if (failures.length) throw new ReconcileFailed(failures)
  return awaitedMs
}

/** For the pods that are there, one of which may have an index beyond the number, and for those to come. */
function syncClaims(
  set: StoredSet,
  clique: StoredClique,
  instance: CliqueInstance,
  context: OperatorContext,
  signal: AbortSignal,
): Promise<Progress> {
  const { replicas } = clique.spec
  const held = context.caches.podsOf(clique).filter(isActive).map(indexOf)
  const beyond = new Set(held.filter(index => index !== undefined && index >= replicas)) as Set<number>
  const indexes = {
    *[Symbol.iterator]() {
      yield* eachIndex(0, replicas)
      yield* beyond
    },
  }
  return syncSharedClaims(
    {
      set,
      ownerUid: clique.metadata.uid,
      entries: instance.template.resourceSharing ?? [],
      wanted: find => claimsOfClique(set, instance, clique, indexes, find),
      code: cliqueErrorCode.syncResourceClaim,
    },
    context,
    signal,
  )
}

/** Writes the status, at once or paced. Returns how long to wait for that or for the update. */
async function updateStatus(
  set: StoredSet,
  key: ObjectKey,
  instance: CliqueInstance,
  failure: unknown,
  planUpdate: UpdatePlanner,
  context: OperatorContext,
  signal: AbortSignal,
): Promise<number> {
  const { caches, statusPace } = context
  const stored = caches.cliques.get(refOf(key)) as Stored<PodClique> & StoredClique
  if (!stored || stored.metadata.deletionTimestamp) return 0
  // A replica that is removed loses its pods first. A status for each of them would serve no reader.
  const isBeingRemoved = context.removals.has(set, instance.setReplica)
  if (failure === undefined && (isBeingRemoved || !isWanted(set, instance, caches))) {
    statusPace.drop(stored.metadata.uid)
    return isBeingRemoved ? removalAfterMs : 0
  }
  const pods = caches.podsOf(stored)
  const update = planUpdate(stored, pods)
  const waitMs = await writeChildStatus(
    {
      resource: resources.podCliques,
      stored,
      ...observeClique(set, stored, instance, pods, update, context),
      eventSource: eventSource.podClique,
      failure,
      errorCode: cliqueErrorCode.listPods,
      isUrgent: status => isUpdating(set) || isAwaited(stored, status, instance, context),
    },
    context,
    signal,
  )
  return waitMs || update.retryInMs
}

/** Whether others wait for what this status says: that the clique serves, or that gangs may follow it. */
function isAwaited(
  clique: StoredClique,
  status: PodCliqueStatus,
  { podGang, basePodGang }: CliqueInstance,
  { caches }: OperatorContext,
): boolean {
  const minimum = clique.spec.minAvailable ?? clique.spec.replicas
  const before = clique.status
  if (endsBreach(before?.conditions, status.conditions)) return true
  const crosses = (old: number | undefined, now: number, threshold: number) =>
    (old ?? 0) >= threshold !== now >= threshold
  if (crosses(before?.readyReplicas, status.readyReplicas, minimum)) return true
  if (crosses(before?.readyReplicas, status.readyReplicas, clique.spec.replicas)) return true
  const hasFollowers =
    caches.cliques.countByIndex('basePodGang', `${clique.metadata.namespace}/${podGang}`) > 0
  return !basePodGang && hasFollowers && crosses(before?.scheduledReplicas, status.scheduledReplicas, minimum)
}

/** The clique as it will be named when it has been taken over: new pods need not be renamed after it. */
function underOurName(set: StoredSet, clique: StoredClique): StoredClique {
  if (!isToBeRenamed(set, clique)) return clique
  const labels = { ...clique.metadata.labels, [label.podTemplateHash]: revisionOf(set).hashOf(clique) }
  return { ...clique, metadata: { ...clique.metadata, labels } }
}
