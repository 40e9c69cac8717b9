// SPDX-License-Identifier: Apache-2.0

// One reconcile of a PodGang: the object, the objects that its scheduler reads, and its status.
import { kinds, type PodGang } from '@grove/api'
import type { ReconcileContext, ReconcileResult, Stored } from '@grove/kube'
import { executeOrThrow } from '../apply/execute.ts'
import { gangErrors } from '../errors/catalogue.ts'
import { isNamespaceTerminating } from '../errors/coded-error.ts'
import { type GangKey, parseGangKey } from '../layout/gang-key.ts'
import { keyOf, type SetKey, setKey } from '../layout/object-key.ts'
import { isControlledBy } from '../layout/owner.ts'
import type { StoredSet } from '../layout/stored.ts'
import type { OperatorContext } from '../operator-context.ts'
import { gangCreationGraceMs } from '../timings/timings.ts'
import { clearFailure, recordFailure } from './failures.ts'
import { forgetIncomplete, incompleteFor } from './incomplete.ts'
import { observeGang } from './observe.ts'
import { gangWrites, planGang } from './plan.ts'
import { reportGang } from './report.ts'
import { syncSchedulerObjects } from './scheduler-objects.ts'

export class GangReconciler {
  readonly #context: OperatorContext
  /** Enqueues the set, which reports failures of its gangs. */
  readonly #failuresChanged: (set: SetKey) => void

  constructor(context: OperatorContext, failuresChanged: (set: SetKey) => void) {
    this.#context = context
    this.#failuresChanged = failuresChanged
  }

  async reconcile(key: GangKey, { signal }: ReconcileContext): Promise<ReconcileResult | undefined> {
    const { caches, memory } = this.#context
    const { namespace, set: name } = parseGangKey(key)
    const set = caches.sets.get({ namespace, name })
    if (!set) return undefined
    try {
      const result = await this.#sync(set, key, signal)
      if (clearFailure(set, key, memory)) this.#failuresChanged(setKey(set.metadata))
      return result
    } catch (error) {
      if (!isNamespaceTerminating(error) && recordFailure(set, key, error, memory))
        this.#failuresChanged(setKey(set.metadata))
      throw error
    }
  }

  async #sync(set: StoredSet, key: GangKey, signal: AbortSignal): Promise<ReconcileResult | undefined> {
    const context = this.#context
    const snapshot = observeGang(set, key, context)
    if (!snapshot) {
      forgetIncomplete(set, key, context)
      return undefined
    }
    const { instance, existing } = snapshot
    const { namespace } = set.metadata
    // The end of the removal enqueues this key.
    if (snapshot.isBeingRemoved) return undefined
    // The deletion of a gang that is terminating, or that the garbage collector is about to delete, enqueues this key.
    if (existing && (existing.metadata.deletionTimestamp || isOfFormerSet(existing, set))) return undefined
    if (existing && !isControlledBy(existing, set.metadata.uid))
      throw gangErrors.foreignGang(keyOf(existing))()
    const plan = planGang(snapshot)
    const incompleteMs = incompleteFor(set, key, plan.isComplete, context)
    if (plan.create && !plan.isComplete && incompleteMs < gangCreationGraceMs)
      return { requeueAfter: gangCreationGraceMs - incompleteMs }
    await executeOrThrow(gangWrites(snapshot, plan), context, signal)
    const gang = context.caches.gangs.get({ namespace, name: instance.name })
    // The set controls it, but it is not in the cache yet. Its watch event enqueues this key.
    if (!gang || !isControlledBy(gang, set.metadata.uid)) return undefined
    // Created before the gang is complete, so that no pod loses its gate before the scheduler knows its gang.
    await syncSchedulerObjects(snapshot, gang, context, signal)
    return reportGang({ key, gang, snapshot, plan, incompleteMs }, context, signal)
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
