// SPDX-License-Identifier: Apache-2.0

// One reconcile of a PodCliqueSet: orphans, revision, gang termination, children and gangs, status.
import { eventSource, events, setErrorCode } from '@grove/api'
import { isConflict, type Logger, type ReconcileContext, type ReconcileResult } from '@grove/kube'
import { execute, nothingDone } from '../apply/execute.ts'
import type { Intent } from '../apply/intent.ts'
import { resources } from '../caches/resources.ts'
import { usesDevices } from '../devices/shared-claims.ts'
import {
  ComponentFailed,
  failuresOf,
  lastErrorsOf,
  ReconcileFailed,
  throwIfAny,
  together,
} from '../errors/coded-error.ts'
import type { GangKey } from '../layout/gang-key.ts'
import { replicaCount } from '../layout/layout.ts'
import { type LimitExceeded, setLimitExceeded } from '../layout/limits.ts'
import { keyOf, type ObjectKey, refOf } from '../layout/object-key.ts'
import type { StoredSet } from '../layout/stored.ts'
import type { OperatorContext } from '../operator-context.ts'
import { adopt, orphansOfSet } from '../ownership/adoption.ts'
import { statusPlanners } from '../scaling-group/status-planners.ts'
import { timestamp } from '../state/conditions.ts'
import { isReplicaDue } from '../termination/confirmation.ts'
import { TerminationNotices } from '../termination/notices.ts'
import { planTerminations } from '../termination/plan-set.ts'
import { terminateReplica } from '../termination/terminate.ts'
import { components } from './components.ts'
import { deleteSet, reportFailedDeletion, TerminatingSets } from './deletion.ts'
import { syncGangs } from './gangs.ts'
import { SetsInSync } from './in-sync.ts'
import {
  observeChildren,
  observeReplicas,
  observeSynced,
  type Replicas,
  revisionWitnesses,
} from './observe.ts'
import { announcement, finalizerOf, planStatus } from './plan.ts'
import { removeSurplusReplicas } from './scale-in.ts'
import { syncComponents } from './sync.ts'
import type { TokenSecrets } from './token-secret.ts'

export interface SetReconcilerOptions {
  readonly context: OperatorContext
  readonly tokens: TokenSecrets
  /** Gangs have a controller of their own. The set decides which gangs exist. */
  enqueueGang(key: GangKey): void
  /** Why gangs of a set cannot be written. */
  gangFailures(set: ObjectKey): readonly unknown[]
}

export class SetReconciler {
  readonly #context: OperatorContext
  readonly #enqueueGang: (key: GangKey) => void
  readonly #gangFailures: (set: ObjectKey) => readonly unknown[]
  readonly #tokens: TokenSecrets
  readonly #notices: TerminationNotices
  readonly #inSync: SetsInSync
  readonly #replicas: Replicas
  readonly #terminating: TerminatingSets

  constructor({ context, tokens, enqueueGang, gangFailures }: SetReconcilerOptions) {
    this.#context = context
    this.#enqueueGang = enqueueGang
    this.#gangFailures = gangFailures
    this.#tokens = tokens
    this.#notices = new TerminationNotices(context)
    this.#inSync = new SetsInSync(context.caches)
    this.#replicas = observeReplicas(context.caches)
    this.#terminating = new TerminatingSets(context)
  }

  async reconcile(key: ObjectKey, { signal, log }: ReconcileContext): Promise<ReconcileResult | undefined> {
    const { caches, configuration } = this.#context
    const stored = caches.sets.get(refOf(key))
    if (!stored) return undefined
    if (stored.metadata.deletionTimestamp) return this.#delete(stored, log, signal)
    const limit = setLimitExceeded(stored, configuration)
    if (limit) return this.#hold(stored, limit, signal)
    let set = stored
    let isAnnounced = false
    let hasMore = false
    let termination: Termination = { failures: [], deadline: undefined }
    const failures = await failuresOf(
      (async () => {
        await this.#send(finalizerOf(stored), signal)
        set = caches.sets.get(refOf(key)) ?? stored
        await this.#adopt(set, signal)
        set = await this.#announce(set, signal)
        isAnnounced = true
        // A termination that fails does not stop the sync, and is retried.
        termination = await this.#terminate(set, signal)
        hasMore = await this.#sync(set, signal)
      })(),
    )
    const own = [...failures, ...termination.failures]
    const report = async () => {
      const errors = together(...own, ...(await this.#obstacles(set, signal)))
      return this.#writeStatus(set, { isAnnounced, isSynced: failures.length === 0, errors }, signal)
    }
    let deadline: number | undefined
    own.push(
      ...(await failuresOf(
        report().then(next => {
          deadline = next
        }),
      )),
    )
    throwIfAny(own)
    if (hasMore) return { requeueAfter: 0 }
    const deadlines = [termination.deadline, deadline].filter(one => one !== undefined)
    return deadlines.length ? { requeueAt: Math.min(...deadlines) } : undefined
  }

  /** Reports a count above its limit and changes nothing. A change of the count enqueues the set. */
  async #hold(set: StoredSet, limit: LimitExceeded, signal: AbortSignal): Promise<undefined> {
    const isNew = limit.isNew(set.status?.lastErrors)
    const errors = together(limit, ...(await this.#obstacles(set, signal)))
    await this.#writeStatus(set, { isAnnounced: false, isSynced: false, errors }, signal)
    if (isNew) this.#context.events.emit(set, eventSource.podCliqueSet, limit.event)
  }

  /** Failures of gangs and missing tokens: reported on the set, retried elsewhere. They do not stop an update. */
  async #obstacles(set: StoredSet, signal: AbortSignal): Promise<unknown[]> {
    const noToken = await this.#tokens.poll(set, signal)
    return [
      ...this.#gangFailures(keyOf(set)).map(error => new ComponentFailed('PodGang', error)),
      ...(noToken ? [new ComponentFailed('ServiceAccountTokenSecret', noToken)] : []),
    ]
  }

  async #delete(set: StoredSet, log: Logger, signal: AbortSignal): Promise<ReconcileResult | undefined> {
    try {
      return await deleteSet(set, this.#terminating.terminatingMs(set), this.#context, log, signal)
    } catch (error) {
      // A conflict is over with the next attempt. Users wait for anything else to be resolved.
      if (!isConflict(error)) await reportFailedDeletion(set, error, this.#context, signal)
      throw error
    }
  }

  /** Before the revision is decided: adopted children may have an older template. */
  async #adopt(set: StoredSet, signal: AbortSignal): Promise<void> {
    const orphans = orphansOfSet(set, this.#context.caches)
    const code = setErrorCode.setControllerReference
    const adopted = await adopt(orphans, resources.podCliqueSets, set, code, this.#context, signal)
    if (adopted > 0) this.#context.events.emit(set, eventSource.podCliqueSet, events.orphansAdopted(adopted))
  }

  /** Announces a new revision in the status before any child follows it. */
  async #announce(set: StoredSet, signal: AbortSignal): Promise<StoredSet> {
    const { caches, clock } = this.#context
    const status = announcement(set, () => revisionWitnesses(set, caches), timestamp(clock))
    if (!status) return set
    await this.#send([writeStatusOf(set, status)], signal)
    return { ...set, status }
  }

  /**
   * Syncs children and gangs, unless nothing has changed since they were last in sync. Returns whether there is more to create
   * than one reconcile creates.
   */
  async #sync(set: StoredSet, signal: AbortSignal): Promise<boolean> {
    const context = this.#context
    const fingerprint = this.#inSync.fingerprintOf(set)
    if (this.#inSync.isInSync(set, fingerprint)) return false
    this.#inSync.forgetSync(set)
    const areGangsDue = this.#inSync.areGangsDue(set, fingerprint)
    const gangs = {
      name: 'PodGang',
      run: async () => {
        await syncGangs(set, areGangsDue, context, this.#enqueueGang, signal)
        return nothingDone
      },
    }
    const surplus = await removeSurplusReplicas(set, context, signal)
    const { groups, alongside } = components(set, context, this.#tokens, signal)
    const outcome = await syncComponents({ groups: [...groups, [gangs]], alongside }, surplus.length > 0)
    const failures = [...surplus, ...outcome.failures]
    if (failures.length) throw new ReconcileFailed(failures)
    this.#inSync.recordGangs(set, fingerprint)
    if (outcome.hasMore) return true
    // Devices are released when the pods that use them are gone, and the fingerprint does not count changes of pods.
    if (!usesDevices(set, context.caches)) this.#inSync.recordSync(set, fingerprint)
    return false
  }

  /** Terminates replicas that were in breach for too long. A replica that fails does not stop the others. */
  async #terminate(set: StoredSet, signal: AbortSignal): Promise<Termination> {
    const context = this.#context
    const children = observeChildren(set, context.caches)
    const breaches = this.#replicas.all(set, replicaCount(set)).map(({ breach }) => breach)
    const plan = planTerminations(set, breaches, context.clock.now())
    const failures: unknown[] = []
    for (const { replica } of plan.terminate) {
      const terminate = async () => {
        if (await isReplicaDue(set, replica, children, statusPlanners(context), context, signal))
          throwIfAny(await terminateReplica(set, replica, context, signal))
      }
      failures.push(...(await failuresOf(terminate())))
    }
    this.#notices.report(set, plan.waiting)
    const deadlines = plan.waiting.map(({ deadline }) => deadline)
    return { failures, deadline: deadlines.length ? Math.min(...deadlines) : undefined }
  }

  /** Writes the status. Returns when it changes without an event. */
  async #writeStatus(set: StoredSet, written: Written, signal: AbortSignal): Promise<number | undefined> {
    const context = this.#context
    const snapshot = observeSynced(set, context, this.#replicas)
    if (!snapshot) return undefined
    const now = timestamp(context.clock)
    const { errors, ...options } = written
    const before = snapshot.set.status?.lastErrors
    const lastErrors = errors ? lastErrorsOf(errors, setErrorCode.updateStatus, now, before) : []
    const { status, deadline } = planStatus(snapshot, { ...options, lastErrors, now })
    await this.#send([writeStatusOf(snapshot.set, status)], signal)
    return deadline
  }

  async #send(intents: readonly Intent[], signal: AbortSignal): Promise<void> {
    throwIfAny((await execute(intents, this.#context, { signal })).failures)
  }
}

interface Termination {
  readonly failures: readonly unknown[]
  /** When the next replica is due, milliseconds since the epoch. */
  readonly deadline: number | undefined
}

interface Written {
  readonly isAnnounced: boolean
  readonly isSynced: boolean
  readonly errors: ReconcileFailed | undefined
}

function writeStatusOf(object: StoredSet, status: unknown): Intent {
  return { kind: 'writeStatus', resource: resources.podCliqueSets, object, status }
}
