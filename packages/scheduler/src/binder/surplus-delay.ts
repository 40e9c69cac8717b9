// SPDX-License-Identifier: Apache-2.0

import type { Decision, PodBinding } from '../types.ts'

/**
 * While some gang waits or is being created, surplus pods are bound this much later than they could be. Room appears node by node: without
 * the delay, surplus would take the first node that a waiting gang could use together with the next one.
 */
export const surplusDelayMs = 1_000

export interface DueBindings {
  readonly bindings: readonly PodBinding[]
  /** When to look at the surplus again, in milliseconds from now. */
  readonly retryInMs: number | undefined
}

type PlannedGangs = Pick<Decision, 'bindings' | 'gangs' | 'missingGangs'>

/** Holds surplus back for a moment while gangs wait. It remembers only since when surplus is held back. */
export class SurplusDelay {
  #heldSince: number | undefined

  /** `now` is monotonic. */
  due({ bindings, gangs, missingGangs }: PlannedGangs, now: number): DueBindings {
    const hasSurplus = bindings.some(({ part }) => part === 'surplus')
    const hasWaiting = missingGangs.length > 0 || gangs.some(({ verdict }) => verdict !== 'Scheduled')
    if (!hasSurplus || !hasWaiting) {
      this.#heldSince = undefined
      return { bindings, retryInMs: undefined }
    }
    this.#heldSince ??= now
    const leftMs = this.#heldSince + surplusDelayMs - now
    if (leftMs <= 0) {
      this.#heldSince = undefined
      return { bindings, retryInMs: undefined }
    }
    return { bindings: bindings.filter(({ part }) => part === 'minimum'), retryInMs: leftMs }
  }
}
