// SPDX-License-Identifier: Apache-2.0

// Which of the things that happen are the same thing again. Equal events of one object are one series with a count.
// An object that says ever new things for one reason gets `distinctMessages` events for it and then one combined event
// whose count goes on. Each reason of each object stands for itself: chatter about one never hides another, which is
// where a limit per object (client-go's: 25, then one in five minutes) loses the one event that mattered.
import type { EventDescription, EventSubject } from './event.ts'

/** Messages that one reason of one object may have before further ones are combined. As client-go's. */
const distinctMessages = 10
/** After this long without hearing of it, a reason starts afresh. As client-go's. */
const forgetMs = 600_000
/** Reasons of objects that are remembered; beyond, those that were silent for longest are forgotten. */
const rememberedReasons = 4096

const combinedPrefix = '(combined from similar events): '

/** One event that is stored, or will be. */
export interface Series {
  readonly component: string
  readonly subject: EventSubject
  readonly type: EventDescription['type']
  readonly reason: string
  message: string
  count: number
  readonly firstAt: number
  lastAt: number
  /** The first thing heard for this reason of this object. */
  readonly opensReason: boolean
}

interface ReasonOfObject {
  readonly byMessage: Map<string, Series>
  combined: Series | undefined
  lastAt: number
}

export class Correlation<S extends Series> {
  readonly #reasons = new Map<string, ReasonOfObject>()
  readonly #create: (series: Series) => S

  constructor(create: (series: Series) => S) {
    this.#create = create
  }

  /** Counts what happened and returns the series it belongs to. */
  add(component: string, subject: EventSubject, event: EventDescription, now: number): S {
    const reason = this.#reasonFor(component, subject, event, now)
    let series = reason.byMessage.get(event.message)
    if (!series && reason.byMessage.size >= distinctMessages) {
      series = reason.combined
      if (series) series.message = combinedPrefix + event.message
    }
    if (series) {
      series.count++
      series.lastAt = now
      return series as S
    }
    const combines = reason.byMessage.size >= distinctMessages
    const created = this.#create({
      component,
      subject,
      type: event.type,
      reason: event.reason,
      message: combines ? combinedPrefix + event.message : event.message,
      count: 1,
      firstAt: now,
      lastAt: now,
      opensReason: reason.byMessage.size === 0,
    })
    if (combines) reason.combined = created
    else reason.byMessage.set(event.message, created)
    return created
  }

  #reasonFor(component: string, subject: EventSubject, event: EventDescription, now: number): ReasonOfObject {
    const key = [
      component,
      subject.kind,
      subject.namespace,
      subject.name,
      subject.uid,
      subject.fieldPath,
      event.type,
      event.reason,
    ].join('\0')
    let reason = this.#reasons.get(key)
    // Deleted and set again: a Map is in the order of setting, so the first is the one silent for longest.
    if (reason) this.#reasons.delete(key)
    if (!reason || now - reason.lastAt > forgetMs)
      reason = { byMessage: new Map(), combined: undefined, lastAt: now }
    reason.lastAt = now
    this.#reasons.set(key, reason)
    if (this.#reasons.size > rememberedReasons) {
      const [oldest] = this.#reasons.keys()
      this.#reasons.delete(oldest!)
    }
    return reason
  }
}
