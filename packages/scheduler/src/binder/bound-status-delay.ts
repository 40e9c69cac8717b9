// SPDX-License-Identifier: Apache-2.0

import { type Condition, conditionType, type PodGang, type PodGangStatus } from '@grove/api'

/**
 * The status of a bound gang waits this long for further changes: pods start and become ready within moments of each
 * other, and each step would cost a write. Statuses are at most one second old, so this leaves time for the write.
 */
export const boundStatusDelayMs = 300

interface Held {
  /** Monotonic. */
  readonly dueAt: number
  readonly scheduled: Condition | undefined
}

/**
 * Delays the statuses of gangs that have their minimum bound. The first change starts the delay; later changes do not
 * extend it.
 *
 * A gang whose status waits counts as scheduled in this process. Otherwise a pod that is lost meanwhile would release the
 * others. A process that ends meanwhile leaves the record `Binding`, as if it had ended before the write.
 */
export class BoundStatusDelay {
  /** By UID of the gang. */
  readonly #held = new Map<string, Held>()

  /** Returns how long the status still has to wait; 0 if it is to be written now. `now` is monotonic. */
  delayMs(uid: string, status: PodGangStatus, now: number): number {
    const held = this.#held.get(uid) ?? { dueAt: now + boundStatusDelayMs, scheduled: scheduledOf(status) }
    this.#held.set(uid, held)
    return Math.max(0, held.dueAt - now)
  }

  /**
   * Call this when the API server has accepted all bindings of the minimum. The watch shows them later, and until then a pod
   * may be lost: the gang counts as scheduled nevertheless. `now` is monotonic.
   */
  recordBound(uid: string, lastTransitionTime: string, now: number): void {
    if (this.#held.has(uid)) return
    const scheduled: Condition = {
      type: conditionType.podGangScheduled,
      status: 'True',
      reason: 'Bound',
      message: '',
      lastTransitionTime,
    }
    this.#held.set(uid, { dueAt: now + boundStatusDelayMs, scheduled })
  }

  /** The status was written, or equals the stored one again. */
  clear(uid: string): void {
    this.#held.delete(uid)
  }

  /** Forgets gangs that no longer exist. */
  retain(uids: ReadonlySet<string>): void {
    for (const uid of this.#held.keys()) if (!uids.has(uid)) this.#held.delete(uid)
  }

  /** The gang with the condition Scheduled of its delayed status. */
  withDelayed<G extends PodGang>(gang: G): G {
    const scheduled = this.#held.get(gang.metadata.uid ?? '')?.scheduled
    if (!scheduled || scheduledOf(gang.status)?.status === 'True') return gang
    const others = gang.status?.conditions?.filter(({ type }) => type !== scheduled.type) ?? []
    return { ...gang, status: { phase: 'Starting', ...gang.status, conditions: [...others, scheduled] } }
  }

  get size(): number {
    return this.#held.size
  }
}

function scheduledOf(status: PodGangStatus | undefined): Condition | undefined {
  return status?.conditions?.find(({ type }) => type === conditionType.podGangScheduled)
}
