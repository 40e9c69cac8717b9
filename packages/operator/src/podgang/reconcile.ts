// SPDX-License-Identifier: Apache-2.0

// One reconcile of a PodGang: the object, the objects that its scheduler reads, and the condition Initialized.
import { kinds, type PodGang } from '@grove/api'
import type { Change, KubeObject, ReconcileContext, ReconcileResult, Stored } from '@grove/kube'
import { execute } from '../apply/execute.ts'
import { resources } from '../caches/resources.ts'
import { gangErrors } from '../errors/catalogue.ts'
import { isNamespaceTerminating, throwIfAny } from '../errors/coded-error.ts'
import type { GangKey } from '../layout/gang-key.ts'
import { keyOf, type ObjectKey } from '../layout/object-key.ts'
import { isControlledBy } from '../layout/owner.ts'
import type { StoredGang, StoredSet } from '../layout/stored.ts'
import type { OperatorContext } from '../operator-context.ts'
import { findCondition, timestamp } from '../state/conditions.ts'
import type { GangFailures } from './failures.ts'
import { observeGang } from './observe.ts'
import { type GangPlan, gangWrites, planGang, statusWith } from './plan.ts'
import { syncSchedulerObjects } from './scheduler-objects.ts'

/**
 * A gang whose pods are being created is not created until they exist: then one request lists all of them. It never waits
 * longer than this, so that users see a gang whose pods cannot be created.
 */
export const creationGraceMs = 3_000

/** A missing pod is reported only after this time: most pods are recreated within moments. */
export const lackGraceMs = 2_000

export class GangReconciler {
  readonly #context: OperatorContext
  readonly #failures: GangFailures
  /** When a gang was first incomplete, or when its status last reported why; monotonic. */
  readonly #incompleteSince = new Map<GangKey, number>()
  /** Reconciled gangs, by the namespace and name that they share with their schedulers' objects. */
  readonly #keys = new Map<ObjectKey, GangKey>()

  constructor(context: OperatorContext, failures: GangFailures) {
    this.#context = context
    this.#failures = failures
  }

  /**
   * The gang to reconcile because it or its scheduler's object was edited. Writes of the operator count, too: the response
   * to such a write may be the first to show an edit of another client.
   */
  gangToRepair(change: Change<KubeObject>): GangKey | undefined {
    const name = keyOf(change.new ?? change.old)
    const key = this.#keys.get(name)
    // Recorded again by the reconcile that recreates it.
    if (change.type === 'delete') this.#keys.delete(name)
    return key
  }

  async reconcile(key: GangKey, { signal }: ReconcileContext): Promise<ReconcileResult | undefined> {
    try {
      const result = await this.#sync(key, signal)
      this.#failures.clear(key)
      return result
    } catch (error) {
      if (!isNamespaceTerminating(error)) this.#failures.record(key, error)
      throw error
    }
  }

  async #sync(key: GangKey, signal: AbortSignal): Promise<ReconcileResult | undefined> {
    const context = this.#context
    const snapshot = observeGang(key, context)
    if (!snapshot) {
      this.#incompleteSince.delete(key)
      return undefined
    }
    const { set, instance, existing } = snapshot
    const { namespace } = set.metadata
    this.#keys.set(`${namespace}/${instance.name}`, key)
    // The end of the removal enqueues this key.
    if (snapshot.isBeingRemoved) return undefined
    // The deletion of a gang that is terminating, or that the garbage collector is about to delete, enqueues this key.
    if (existing && (existing.metadata.deletionTimestamp || isOfFormerSet(existing, set))) return undefined
    if (existing && !isControlledBy(existing, set.metadata.uid))
      throw gangErrors.foreignGang(keyOf(existing))()
    const plan = planGang(snapshot)
    const incompleteMs = this.#incompleteMs(key, plan.isComplete)
    if (plan.create && !plan.isComplete && incompleteMs < creationGraceMs)
      return { requeueAfter: creationGraceMs - incompleteMs }
    throwIfAny((await execute(gangWrites(snapshot, plan), context, { signal })).failures)
    const gang = context.caches.gangs.get({ namespace, name: instance.name })
    // Ours, but not in the cache yet: its arrival enqueues this key.
    if (!gang || !isControlledBy(gang, set.metadata.uid)) return undefined
    // Before the gang is complete: no pod loses its gate whose gang the scheduler does not know.
    await syncSchedulerObjects(set, gang, context, signal)
    return this.#writeStatus(key, gang, plan, incompleteMs, signal)
  }

  /** Time since the gang was first incomplete, or since that was last reported. */
  #incompleteMs(key: GangKey, isComplete: boolean): number {
    const now = this.#context.clock.monotonic()
    if (isComplete) {
      this.#incompleteSince.delete(key)
      return 0
    }
    const since = this.#incompleteSince.get(key) ?? now
    this.#incompleteSince.set(key, since)
    return now - since
  }

  /** Writes whether the gang is complete. An incomplete gang is reported only if nothing was reported yet or it stays so. */
  async #writeStatus(
    key: GangKey,
    gang: StoredGang,
    { initialized, isComplete }: GangPlan,
    incompleteMs: number,
    signal: AbortSignal,
  ): Promise<ReconcileResult | undefined> {
    const { clock, statusDebounce } = this.#context
    const { uid, generation = 1 } = gang.metadata
    const known = findCondition(gang.status?.conditions, initialized.type)
    if (known?.status === initialized.status && (isComplete || known.message === initialized.message)) {
      if (known.observedGeneration === generation) {
        statusDebounce.clear(uid)
        return undefined
      }
      // No object waits for the statement that the condition holds for the present generation as well.
      const waitMs = statusDebounce.delayMs(uid)
      if (waitMs > 0) return { requeueAfter: waitMs }
    } else if (known && !isComplete && incompleteMs < lackGraceMs)
      return { requeueAfter: lackGraceMs - incompleteMs }
    const status = statusWith(gang, initialized, timestamp(clock))
    const { failures } = await execute(
      [{ kind: 'writeStatus', resource: resources.podGangs, object: gang, status }],
      this.#context,
      { signal },
    )
    throwIfAny(failures)
    statusDebounce.clear(uid)
    if (!isComplete) this.#incompleteSince.set(key, clock.monotonic())
    return undefined
  }
}

function isOfFormerSet({ metadata }: Stored<PodGang>, set: StoredSet): boolean {
  const owner = metadata.ownerReferences?.find(reference => reference.controller)
  return (
    owner?.kind === kinds.podCliqueSet.kind &&
    owner.name === set.metadata.name &&
    owner.uid !== set.metadata.uid
  )
}
