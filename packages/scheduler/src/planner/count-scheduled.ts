// SPDX-License-Identifier: Apache-2.0
import type { Policy, Snapshot } from '../types.ts'
import { runCycle } from './cycle.ts'

export interface GangCount {
  readonly gangs: number
  /** Gangs whose minimum fits, in planning order. */
  readonly scheduled: number
  /** False if the budget ended before every other gang was proved not to fit. */
  readonly proved: boolean
}

/** Counts the gangs whose minima fit together. Cheaper than a plan, which explains each gang that waits. */
export function countScheduled(snapshot: Snapshot, policy: Policy): GangCount {
  const { results } = runCycle(snapshot, policy)
  return {
    gangs: results.length,
    scheduled: results.filter(({ kind }) => kind === 'satisfied' || kind === 'accepted').length,
    proved: results.every(result => result.kind !== 'unschedulable' || result.proved),
  }
}
