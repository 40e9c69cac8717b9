// SPDX-License-Identifier: Apache-2.0

import { eventSource, events } from '@grove/api'
import type { StoredSet } from '../layout/stored.ts'
import type { OperatorContext } from '../operator-context.ts'
import type { BreachedReplica } from './plan-set.ts'

/** Reports a termination to users before it happens: one event per replica and breach. */
export class TerminationNotices {
  readonly #context: OperatorContext
  /** UID of the set → replica → the reported deadline. */
  readonly #reported = new Map<string, Map<number, number>>()

  constructor(context: OperatorContext) {
    this.#context = context
    context.caches.sets.onChange(change => {
      if (change.type === 'delete') this.#reported.delete(change.old.metadata.uid)
    })
  }

  report(set: StoredSet, waiting: readonly BreachedReplica[]): void {
    const before = this.#reported.get(set.metadata.uid)
    for (const { replica, breach, deadline } of waiting) {
      if (before?.get(replica) === deadline) continue
      const what = `Replica ${replica} of PodCliqueSet ${set.metadata.name}`
      this.#context.events.emit(
        set,
        eventSource.podCliqueSet,
        events.gangTerminationScheduled(what, breach.because, new Date(deadline).toISOString()),
      )
    }
    if (waiting.length)
      this.#reported.set(set.metadata.uid, new Map(waiting.map(one => [one.replica, one.deadline])))
    else this.#reported.delete(set.metadata.uid)
  }
}
