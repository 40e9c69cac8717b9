// SPDX-License-Identifier: Apache-2.0

import type { Clock } from '@grove/kube'

/** How often a status that nobody waits for is written. A thousand pods that start at once change it a thousand times. */
export const statusEveryMs = 500
/** Statuses that wait while only a few do are written this far apart. */
export const statusesApartMs = 50
/** So many are few. While hundreds of cliques start, that comes first, and soon there is more to say of each. */
export const fewStatuses = 20
export const manyStatusesApartMs = 250
/** However many they are, none waits longer than this. */
export const longestStatusWaitMs = 30_000
/** Who has to wait longer asks again after this, for the rush may be over by then. */
export const askAgainMs = 3_000
/** More changes than this in a second are a rush. */
export const rushPerSecond = 20
/** More are not counted: then the largest rush counts as over about a second after its last change. */
const mostChanges = 3 * rushPerSecond
/** Timers are no more exact than this. */
const timerMs = 10

interface Turn {
  /** When it comes; monotonic. */
  readonly at: number
  /** When its owner was told to ask again. */
  askAt: number
}

/**
 * Lets statuses be written at a calm pace: what somebody waits for at once, the rest together. The turns are far apart
 * while much happens, because what is written then is soon overtaken; when little happens, what is written stays true.
 */
export class StatusPace {
  readonly #clock: Clock
  /** UID → when it was last written; monotonic. */
  readonly #last = new Map<string, number>()
  readonly #turns = new Map<string, Turn>()
  /** Changes of late, each counting less the longer it is ago: as many as there are in a second. */
  #changes = 0
  #changesAt = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** How long a write that does not urge has to wait before it asks again; 0 when it may go now. */
  waitMs(uid: string): number {
    const now = this.#clock.monotonic()
    const known = this.#turns.get(uid)
    const turn = known ?? { at: this.#nextTurn(uid, now), askAt: 0 }
    this.#turns.set(uid, turn)
    const isChange = !known || isEarly(known, now)
    const changes = this.#changesOfLate(now, isChange)
    if (turn.at <= now || (!isChange && changes <= rushPerSecond)) return 0
    if (!known || !isChange) turn.askAt = Math.min(turn.at, now + askAgainMs)
    return turn.askAt - now
  }

  wrote(uid: string): void {
    const now = this.#clock.monotonic()
    const turn = this.#turns.get(uid)
    if (!turn || isEarly(turn, now)) this.#changesOfLate(now, true)
    this.#turns.delete(uid)
    this.#last.set(uid, now)
  }

  /** There is nothing to write any more: it is again as it was. */
  drop(uid: string): void {
    this.#turns.delete(uid)
  }

  forget(uid: string): void {
    this.#turns.delete(uid)
    this.#last.delete(uid)
  }

  #nextTurn(uid: string, now: number): number {
    const own = (this.#last.get(uid) ?? now) + statusEveryMs
    return Math.max(own, now + Math.min(longestStatusWaitMs, this.#behindOthersMs()))
  }

  #behindOthersMs(): number {
    const others = this.#turns.size
    if (others === 0) return 0
    const few = Math.min(others, fewStatuses)
    return statusEveryMs + few * statusesApartMs + (others - few) * manyStatusesApartMs
  }

  #changesOfLate(now: number, isChange: boolean): number {
    const faded = this.#changes * Math.exp((this.#changesAt - now) / 1_000)
    this.#changes = Math.min(mostChanges, faded + (isChange ? 1 : 0))
    this.#changesAt = now
    return this.#changes
  }
}

/** Who asks before it was told to does so because something has happened to it. */
function isEarly({ at, askAt }: Turn, now: number): boolean {
  return now < Math.min(at, askAt) - timerMs
}
