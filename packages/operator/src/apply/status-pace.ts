// SPDX-License-Identifier: Apache-2.0

import type { Clock } from '@grove/kube'

/** How often a status that nobody waits for is written. A thousand pods that start at once change it a thousand times. */
export const statusEveryMs = 500
/** Statuses that wait while only a few do are written this far apart. */
export const statusesApartMs = 50
/** So many are few. While hundreds of cliques start, that comes first, and soon there is more to say of each. */
export const fewStatuses = 20
export const manyStatusesApartMs = 250
/** However many they are, none waits longer than this: about as long as thousands take to start. */
export const longestStatusWaitMs = 300_000
/** Who has to wait longer asks again after this, for the rush may be over by then. */
export const askAgainMs = 3_000
/** Over this time changes are counted, of each object one. */
const countedMs = 2_000
/** The largest rush counts for so many times of what it takes to be one: it is over within some seconds. */
const largestRush = 4
/** Timers are no more exact than this. */
const timerMs = 10

interface Turn {
  /** When it comes; monotonic. */
  readonly at: number
  /** When its owner was told to ask again. */
  askAt: number
  /** When a change of it was last counted. */
  countedAt: number
}

/**
 * Lets statuses be written at a calm pace: what somebody waits for at once, the rest together. The turns are far apart
 * while so much happens that whatever is written is likely to be overtaken before its turn would have come. When little
 * happens any more, what is written stays true, and nobody has to wait for it.
 */
export class StatusPace {
  readonly #clock: Clock
  /** UID → when it was last written; monotonic. */
  readonly #last = new Map<string, number>()
  readonly #turns = new Map<string, Turn>()
  /** Of those who wait, the part that would change within the longest wait if it went on as of late. */
  #rush = 0
  #rushAt = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** How long a write that does not urge has to wait before it asks again; 0 when it may go now. */
  waitMs(uid: string): number {
    const now = this.#clock.monotonic()
    const known = this.#turns.get(uid)
    const turn = known ?? { at: this.#nextTurn(uid, now), askAt: 0, countedAt: Number.NEGATIVE_INFINITY }
    this.#turns.set(uid, turn)
    const isChange = !known || isEarly(known, now)
    if (isChange) this.#count(turn, now)
    if (turn.at <= now || (!isChange && this.#rushOfLate(now) <= 1)) return 0
    if (!known || !isChange) turn.askAt = Math.min(turn.at, now + askAgainMs)
    return turn.askAt - now
  }

  wrote(uid: string): void {
    const now = this.#clock.monotonic()
    const turn = this.#turns.get(uid)
    const countedAt = turn?.countedAt ?? this.#last.get(uid) ?? Number.NEGATIVE_INFINITY
    if (!turn || isEarly(turn, now)) this.#count({ countedAt }, now)
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

  #count(turn: Pick<Turn, 'countedAt'>, now: number): void {
    if (now - turn.countedAt < countedMs) return
    turn.countedAt = now
    const share = longestStatusWaitMs / countedMs / Math.max(fewStatuses, this.#turns.size)
    this.#rush = Math.min(largestRush, this.#rushOfLate(now) + share)
  }

  /** Fades, so that changes count less the longer they are ago. */
  #rushOfLate(now: number): number {
    this.#rush *= Math.exp((this.#rushAt - now) / countedMs)
    this.#rushAt = now
    return this.#rush
  }
}

/** Who asks before it was told to does so because something has happened to it. */
function isEarly({ at, askAt }: Turn, now: number): boolean {
  return now < Math.min(at, askAt) - timerMs
}
