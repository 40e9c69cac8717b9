// SPDX-License-Identifier: Apache-2.0

// One pass over a PodCliqueSet: its children, its gangs, its status.
import {
  type ConditionValue,
  conditionType,
  eventSource,
  events,
  finalizer,
  label,
  type PodCliqueSetStatus,
  type PodCliqueSetUpdateProgress,
  setErrorCode,
} from '@grove/api'
import { isConflict, type ReconcileContext, type ReconcileResult } from '@grove/kube'
import { writeStatus } from '../apply/status-write.ts'
import { patchObject } from '../apply/writes.ts'
import type { Caches } from '../caches/caches.ts'
import { resources } from '../caches/resources.ts'
import { usesDevices } from '../devices/shared-claims.ts'
import { ComponentFailed, lastErrorsOf, ReconcileFailed, together } from '../errors/coded-error.ts'
import { numberLabel } from '../layout/clique-instance.ts'
import type { GangKey } from '../layout/gang-key.ts'
import { replicaCount } from '../layout/layout.ts'
import { type LimitExceeded, setLimitExceeded } from '../layout/limits.ts'
import { keyOf, type ObjectKey, refOf } from '../layout/object-key.ts'
import { isControlledBy } from '../layout/owner.ts'
import type { StoredSet } from '../layout/stored.ts'
import type { OperatorContext } from '../operator-context.ts'
import { adopt, orphansOfSet } from '../ownership/adoption.ts'
import type { LiveChildren } from '../revision/foreign-hashes.ts'
import { templateHashOfClique } from '../revision/revision.ts'
import { revisionOf } from '../revision/set-revision.ts'
import { statusPlanners } from '../scaling-group/status-planners.ts'
import { isInProgress } from '../state/child-state.ts'
import { findCondition, timestamp } from '../state/conditions.ts'
import type { Breach } from '../termination/breach.ts'
import { terminateReplica } from '../termination/carry-out.ts'
import { isReplicaDue } from '../termination/confirmation.ts'
import { TerminationNotices } from '../termination/notices.ts'
import { planTerminations, replicaBreach } from '../termination/plan-set.ts'
import { type ReplicaState, replicaState } from '../update/replica-state.ts'
import { planSetUpdate, statusForRevision } from '../update/set-update.ts'
import { components } from './components.ts'
import { deleteSet, reportFailedDeletion, TerminatingSets } from './deletion.ts'
import { areGangsComplete, syncGangs } from './gangs.ts'
import { SetsInSync } from './in-sync.ts'
import { ReplicaMemo } from './replica-memo.ts'
import { removeSurplusReplicas } from './scale-in.ts'
import { planSetStatus } from './status.ts'
import { syncComponents } from './sync.ts'
import type { TokenSecrets } from './token-secret.ts'
import { topologyCondition } from './topology-condition.ts'

export interface SetReconcilerOptions {
  readonly context: OperatorContext
  readonly tokens: TokenSecrets
  /** Gangs are a controller of their own; here is decided which there are. */
  enqueueGang(key: GangKey): void
  /** What keeps gangs of a set from being brought about. */
  gangFailures(set: ObjectKey): readonly unknown[]
}

/** Computed for each replica from its children. */
interface ReplicaFacts {
  readonly state: ReplicaState
  readonly breach: Breach | undefined
}

export class SetReconciler {
  readonly #context: OperatorContext
  readonly #enqueueGang: (key: GangKey) => void
  readonly #gangFailures: (set: ObjectKey) => readonly unknown[]
  readonly #tokens: TokenSecrets
  readonly #notices: TerminationNotices
  readonly #inSync: SetsInSync
  readonly #replicas: ReplicaMemo<ReplicaFacts>
  readonly #going: TerminatingSets

  constructor({ context, tokens, enqueueGang, gangFailures }: SetReconcilerOptions) {
    this.#context = context
    this.#enqueueGang = enqueueGang
    this.#gangFailures = gangFailures
    this.#tokens = tokens
    this.#notices = new TerminationNotices(context)
    this.#inSync = new SetsInSync(context.caches)
    this.#replicas = new ReplicaMemo(context.caches, (set, replica, revision, children) => ({
      state: replicaState(set, replica, revision, children),
      breach: replicaBreach({ set, ...children }, replica),
    }))
    this.#going = new TerminatingSets(context)
  }

  async reconcile(key: ObjectKey, { signal }: ReconcileContext): Promise<ReconcileResult | undefined> {
    const context = this.#context
    const stored = context.caches.sets.get(refOf(key))
    if (!stored) return undefined
    if (stored.metadata.deletionTimestamp) return this.#delete(stored, signal)
    const limit = setLimitExceeded(stored, context.configuration)
    if (limit) return this.#hold(stored, limit, signal)
    let failure: unknown
    let hasMore = false
    const deadlines: (number | undefined)[] = []
    let set = stored
    let isAnnounced = false
    try {
      set = await withFinalizer(stored, context, signal)
      await this.#adopt(set, signal)
      set = await withRevision(set, context, signal)
      isAnnounced = true
      deadlines.push(await this.#terminate(set, signal))
      hasMore = await this.#sync(set, signal)
    } catch (error) {
      failure = error
    }
    try {
      const told = together(failure, ...(await this.#obstacles(set, signal)))
      deadlines.push(await updateStatus(set, isAnnounced, told, context, this.#replicas, signal))
    } catch (error) {
      throw failure === undefined ? error : together(failure, error)
    }
    if (failure) throw failure
    if (hasMore) return { requeueAfter: 0 }
    const known = deadlines.filter(deadline => deadline !== undefined)
    return known.length ? { requeueAt: Math.min(...known) } : undefined
  }

  /** Reports a count above its limit and leaves everything as it is. Nothing to retry: a change of the count wakes the set. */
  async #hold(set: StoredSet, limit: LimitExceeded, signal: AbortSignal): Promise<undefined> {
    const isNew = limit.isNew(set.status?.lastErrors)
    const told = together(limit, ...(await this.#obstacles(set, signal)))
    await updateStatus(set, false, told, this.#context, this.#replicas, signal)
    if (isNew) this.#context.events.emit(set, eventSource.podCliqueSet, limit.event)
  }

  /** What others wait for in vain: reported on the set, and not retried by it. */
  async #obstacles(set: StoredSet, signal: AbortSignal): Promise<unknown[]> {
    const noToken = await this.#tokens.poll(set, signal)
    return [
      ...this.#gangFailures(keyOf(set)).map(error => new ComponentFailed('PodGang', error)),
      ...(noToken ? [new ComponentFailed('ServiceAccountTokenSecret', noToken)] : []),
    ]
  }

  async #delete(set: StoredSet, signal: AbortSignal): Promise<ReconcileResult | undefined> {
    try {
      return await deleteSet(set, this.#going.terminatingMs(set), this.#context, signal)
    } catch (error) {
      // A conflict is over with the next attempt; anything else is what the user waits for.
      if (!isConflict(error)) await reportFailedDeletion(set, error, this.#context, signal)
      throw error
    }
  }

  /** Before anything is decided: what is taken over may be of an older template. */
  async #adopt(set: StoredSet, signal: AbortSignal): Promise<void> {
    const orphans = orphansOfSet(set, this.#context.caches)
    const owner = set
    const code = setErrorCode.setControllerReference
    const adopted = await adopt(orphans, resources.podCliqueSets, owner, code, this.#context, signal)
    if (adopted > 0) this.#context.events.emit(set, eventSource.podCliqueSet, events.orphansAdopted(adopted))
  }

  /**
   * Brings children and gangs to what is wanted, unless they are so since the last look. Returns whether there is more to
   * create than one reconcile does.
   */
  async #sync(set: StoredSet, signal: AbortSignal): Promise<boolean> {
    const fingerprint = this.#inSync.fingerprintOf(set)
    if (this.#inSync.isInSync(set, fingerprint)) return false
    this.#inSync.forgetSync(set)
    const areGangsDue = this.#inSync.areGangsDue(set, fingerprint)
    const gangs = {
      name: 'PodGang',
      run: async () => {
        await syncGangs(set, areGangsDue, this.#context, this.#enqueueGang, signal)
        return 'complete' as const
      },
    }
    const failures = await removeSurplusReplicas(set, this.#context, signal)
    const { groups, beside } = components(set, this.#context, this.#tokens, signal)
    const outcome = await syncComponents({ groups: [...groups, [gangs]], beside }, failures.length > 0)
    failures.push(...outcome.failures)
    if (failures.length) throw new ReconcileFailed(failures)
    this.#inSync.recordGangs(set, fingerprint)
    if (outcome.hasMore) return true
    // Devices are let go when the pods that use them are gone, and of pods nobody counts the changes.
    if (!usesDevices(set, this.#context.caches)) this.#inSync.recordSync(set, fingerprint)
    return false
  }

  /** Takes down what was in breach for too long; tells when the next replica falls due. */
  async #terminate(set: StoredSet, signal: AbortSignal): Promise<number | undefined> {
    const context = this.#context
    const breaches = this.#replicas.all(set, replicaCount(set)).map(({ breach }) => breach)
    const plan = planTerminations(set, breaches, context.clock.now())
    const children = liveChildren(set, context)
    for (const { replica } of plan.terminate)
      if (await isReplicaDue(set, replica, children, statusPlanners(context), context, signal))
        await terminateReplica(set, replica, context, signal)
    this.#notices.tell(set, plan.waiting)
    return plan.waiting.length ? Math.min(...plan.waiting.map(({ deadline }) => deadline)) : undefined
  }
}

/** Children by name that the set controls and that are not terminating. */
function liveChildren({ metadata: { namespace, uid } }: StoredSet, { caches }: OperatorContext) {
  const live = <T extends { metadata: { deletionTimestamp?: string } }>(object: T | undefined) =>
    object && !object.metadata.deletionTimestamp && isControlledBy(object, uid) ? object : undefined
  return {
    cliqueNamed: (name: string) => live(caches.cliques.get({ namespace, name })),
    groupNamed: (name: string) => live(caches.groups.get({ namespace, name })),
  }
}

/** States of the replicas that have children. A set above its limit has few of them, compared with its count. */
function existingReplicas(
  set: StoredSet,
  replicas: ReplicaMemo<ReplicaFacts>,
  { caches, configuration }: OperatorContext,
): ReplicaState[] {
  const facts = setLimitExceeded(set, configuration)
    ? Array.from(presentReplicas(set, caches), replica => replicas.once(set, replica))
    : replicas.all(set, replicaCount(set))
  return facts.map(({ state }) => state).filter(({ exists }) => exists)
}

function presentReplicas({ metadata: { uid } }: StoredSet, caches: Caches): Set<number> {
  return new Set(
    [...caches.cliques.byIndex('controller', uid), ...caches.groups.byIndex('controller', uid)]
      .filter(({ metadata }) => !metadata.deletionTimestamp)
      .map(({ metadata }) => numberLabel(metadata.labels, label.setReplicaIndex))
      .filter(index => index !== undefined),
  )
}

/** Everything that tells what a set was made into so far. */
function childrenOf({ metadata }: StoredSet, { caches }: OperatorContext): LiveChildren {
  const { namespace, uid } = metadata
  const owners = [uid, ...caches.groups.byIndex('controller', uid).map(group => group.metadata.uid)]
  return {
    cliques: owners
      .flatMap(owner => caches.cliques.byIndex('controller', owner))
      .filter(clique => !clique.metadata.deletionTimestamp),
    gangNamed: name => caches.gangs.get({ namespace, name }),
  }
}

async function withFinalizer(
  set: StoredSet,
  { caches }: OperatorContext,
  signal: AbortSignal,
): Promise<StoredSet> {
  const finalizers = set.metadata.finalizers ?? []
  if (finalizers.includes(finalizer.podCliqueSet)) return set
  const { resourceVersion } = set.metadata
  const metadata = { resourceVersion, finalizers: [...finalizers, finalizer.podCliqueSet] }
  await patchObject(caches, resources.podCliqueSets, set, { merge: { metadata } }, { signal })
  return caches.sets.get(set.metadata) ?? set
}

/** A new revision is announced before anything is made of it: the children go by what the status says. */
async function withRevision(
  set: StoredSet,
  context: OperatorContext,
  signal: AbortSignal,
): Promise<StoredSet> {
  const revision = revisionOf(set)
  const isKnown = set.status?.currentGenerationHash !== undefined
  // Asked for only where the status does not say it already: there may be many.
  const children = () => childrenOf(set, context)
  const hasStrays =
    !isKnown && children().cliques.some(clique => !revision.isCurrent(clique, templateHashOfClique(clique)))
  const status = statusForRevision({
    set,
    generationHash: revision.generationHash,
    isCurrentGeneration: stored => revision.isCurrentGeneration(stored, children()),
    hasStrays,
    now: timestamp(context.clock),
  })
  // The first hash of a new set is written with the rest of its status.
  if (!status || (!isKnown && !hasStrays)) return set
  await writeStatus(context.caches, resources.podCliqueSets, set, status, { signal })
  return { ...set, status }
}

/**
 * Writes the status; tells when it changes by itself, if it does. What it says about generation and revision is about
 * the specification that this pass carried out: a change that came meanwhile is the next pass's.
 */
async function updateStatus(
  worked: StoredSet,
  isAnnounced: boolean,
  failure: unknown,
  context: OperatorContext,
  replicas: ReplicaMemo<ReplicaFacts>,
  signal: AbortSignal,
): Promise<number | undefined> {
  const { caches, configuration } = context
  const known = caches.sets.get(worked.metadata)
  if (known?.metadata.uid !== worked.metadata.uid || known.metadata.deletionTimestamp) return undefined
  const { generation } = worked.metadata
  const set = { ...known, metadata: { ...known.metadata, generation }, spec: worked.spec } as typeof known
  const now = timestamp(context.clock)
  const update = failure
    ? undefined
    : planSetUpdate({
        set,
        states: replicas.all(set, replicaCount(set)).map(({ state }) => state),
        newState: replica => replicas.once(set, replica).state,
        now,
      })
  const progress = update?.progress
  const planned = progress ? withProgress(set, progress) : set
  // What users read as "applied": not while an update is under way or gangs wait for pods to be made.
  const isCarriedOut =
    !failure &&
    generation !== undefined &&
    (set.status?.observedGeneration === generation ||
      (!isInProgress(progress ?? set.status?.updateProgress) && areGangsComplete(set, context)))
  const before = findCondition(set.status?.conditions, conditionType.updateProgressing)
  const status: PodCliqueSetStatus = {
    ...planSetStatus({
      set: planned,
      states: existingReplicas(planned, replicas, context),
      // A status that names a revision announces it.
      generationHash: isAnnounced ? revisionOf(set).generationHash : undefined,
      topology: topologyCondition(set, configuration.topologyAwareScheduling.enabled, name =>
        caches.topologyBindings.get({ name }),
      ),
      // A reconcile that failed has not planned the update.
      update: update ? update.condition : (before as ConditionValue | undefined),
      now,
    }),
    ...(isCarriedOut && { observedGeneration: generation }),
    lastErrors: failure ? lastErrorsOf(failure, setErrorCode.updateStatus, now, set.status?.lastErrors) : [],
  }
  await writeStatus(caches, resources.podCliqueSets, set, status, { signal })
  return update?.deadline
}

function withProgress<T extends StoredSet>(set: T, updateProgress: PodCliqueSetUpdateProgress): T {
  return { ...set, status: { ...set.status!, replicas: set.spec.replicas ?? 0, updateProgress } }
}
