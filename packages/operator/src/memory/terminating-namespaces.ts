// SPDX-License-Identifier: Apache-2.0

// Sets whose namespace is being deleted. The first create that the API server rejects for that reason adds a set. From
// then on the set is not reconciled until the namespace controller deletes it.
import type { KubeObject, ReconcileContext, ReconcileResult } from '@grove/kube'
import { isNamespaceTerminating } from '../errors/coded-error.ts'
import type { StoredSet } from '../layout/stored.ts'
import type { SetTable } from './set-table.ts'

type Reconcile<Key extends string> = (key: Key, run: ReconcileContext) => Promise<ReconcileResult | undefined>

export class TerminatingNamespaces {
  /** By UID of the set: a terminating namespace never becomes active again, but a new one may have its name. */
  readonly #sets: SetTable<true>

  constructor(sets: SetTable<true>) {
    this.#sets = sets
  }

  /**
   * Wraps a reconcile so that it ends without an error and without a retry when the namespace of its set is being
   * deleted.
   */
  guarded<Key extends string>(
    reconcile: Reconcile<Key>,
    find: (key: Key) => { readonly set: StoredSet | undefined; readonly object?: KubeObject | undefined },
  ): Reconcile<Key> {
    return async (key, run) => {
      const { set, object } = find(key)
      // Terminating objects are still reconciled, because a finalizer may have to be removed.
      const isDeleted = (object ?? set)?.metadata?.deletionTimestamp !== undefined
      if (set && !isDeleted && this.#sets.get(set)) return undefined
      try {
        return await reconcile(key, run)
      } catch (error) {
        if (!isNamespaceTerminating(error)) throw error
        if (set && !this.#sets.get(set)) {
          this.#sets.set(set, true)
          const { namespace, name } = set.metadata
          run.log.info('The namespace is being deleted; the operator creates no objects in it', {
            namespace,
            set: name,
          })
        }
        return undefined
      }
    }
  }
}
