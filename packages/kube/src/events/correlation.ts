// SPDX-License-Identifier: Apache-2.0

// Groups equal events. Equal events of one object are one series with a count. An object with many different messages
// for one reason gets `distinctMessages` events and then one combined event with a count. Each reason of each object
// is limited separately, so frequent events never hide another reason. The limit of client-go is per object (25, then
// one in five minutes), which can drop the one event that matters.
import type { EventDescription, EventSubject } from './event.ts'

/** Different messages of one reason of one object before further ones are combined. As in client-go. */
const distinctMessages = 10
/** After this long without an event, a reason starts over. As in client-go. */
const expiryMs = 600_000
/** Limit of remembered reasons of objects. Beyond it, the one without an event for the longest time is dropped. */
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
  /** True for the first event of this reason of this object. */
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

  /** Counts an event and returns its series. */
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
    // Delete and set again, because a Map keeps insertion order: the first entry is the oldest.
    if (reason) this.#reasons.delete(key)
    if (!reason || now - reason.lastAt > expiryMs)
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
