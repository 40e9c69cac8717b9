// SPDX-License-Identifier: Apache-2.0
import { need } from '../../planner/gang-demand.ts'
import type { Gang, Snapshot } from '../../types.ts'

/**
 * The budget of the search for fixes of all gangs of a plan: nodes and pods read by trials. It is not a time, so that
 * plans are reproducible. Every waiting gang gets an equal share; a gang that needs less leaves the rest to the next
 * one. The shares of the next gangs pay for a trial that costs more than is left: with thousands of waiting gangs, one
 * trial is more than a share.
 */
export class FixAllowance {
  readonly #work: number
  #left = 0
  #isCutShort = false

  constructor(work = 500_000) {
    this.#work = work
  }

  /** Begins the search for one of `gangs` waiting gangs. */
  begin(gangs: number): void {
    this.#left += this.#work / Math.max(1, gangs)
    this.#isCutShort = false
  }

  /** Reports whether another trial may run. */
  get mayTry(): boolean {
    if (this.#left <= 0) this.#isCutShort = true
    return this.#left > 0
  }

  /** Takes the work of a trial. Reports whether it may run. */
  take({ nodes, boundPods, gangs }: Snapshot): boolean {
    if (!this.mayTry) return false
    this.#left -= nodes.length * (1 + waitingIn(gangs) / 8) + boundPods.length / 8
    return true
  }

  /** Reports whether a trial was skipped since the search of this gang began. */
  get isCutShort(): boolean {
    return this.#isCutShort
  }
}

const waitingOf = new WeakMap<readonly Gang[], number>()

function waitingIn(gangs: readonly Gang[]): number {
  const known = waitingOf.get(gangs)
  if (known !== undefined) return known
  const waiting = gangs.filter(gang => gang.groups.some(group => need(group) > 0)).length
  waitingOf.set(gangs, waiting)
  return waiting
}
