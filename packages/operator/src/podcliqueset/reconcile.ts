// SPDX-License-Identifier: Apache-2.0

// One reconcile of a PodCliqueSet: observe, sync its children, report its status.
import type { ReconcileContext, ReconcileResult } from '@grove/kube'
import { failuresOf, throwIfAny } from '../errors/coded-error.ts'
import { setLimitExceeded } from '../layout/limits.ts'
import { refOf, type SetKey } from '../layout/object-key.ts'
import { deleteSet } from './deletion.ts'
import { SetsInSync } from './in-sync.ts'
import { rememberedReplicas } from './observe.ts'
import { reportSet } from './report.ts'
import { type SetParts, syncSet } from './sync.ts'

export type SetReconcilerOptions = Pick<SetParts, 'context' | 'tokens' | 'enqueueGang'>

export class SetReconciler {
  readonly #parts: SetParts

  constructor(options: SetReconcilerOptions) {
    const { context } = options
    this.#parts = {
      ...options,
      inSync: new SetsInSync(context.caches, context.memory.syncs),
      replicas: rememberedReplicas(context),
    }
  }

  async reconcile(key: SetKey, { signal, log }: ReconcileContext): Promise<ReconcileResult | undefined> {
    const { context } = this.#parts
    const set = context.caches.sets.get(refOf(key))
    if (!set) return undefined
    if (set.metadata.deletionTimestamp) return deleteSet(set, context, log, signal)
    const limit = setLimitExceeded(set, context.configuration)
    if (limit) {
      // A set with a count above its limit is not synced. A change of the count enqueues the set.
      const held = { set, isAnnounced: false, isSynced: false, failures: [limit], hasMore: false }
      await reportSet({ ...held, deadline: undefined }, this.#parts, signal)
      return undefined
    }
    const synced = await syncSet(set, this.#parts, signal)
    let deadline: number | undefined
    const report = async () => {
      deadline = await reportSet(synced, this.#parts, signal)
    }
    throwIfAny([...synced.failures, ...(await failuresOf(report()))])
    if (synced.hasMore) return { requeueAfter: 0 }
    const deadlines = [synced.deadline, deadline].filter(one => one !== undefined)
    return deadlines.length ? { requeueAt: Math.min(...deadlines) } : undefined
  }
}
