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
/**
 * Limit of remembered events. Beyond it, the reason without an event for the longest time is dropped. It bounds the memory to
 * a few mebibytes, however many objects come and go.
 */
export const rememberedEvents = 4096

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
  /** In the order of their last events. */
  readonly #reasons = new Map<string, ReasonOfObject>()
  #size = 0
  readonly #create: (series: Series) => S

  constructor(create: (series: Series) => S) {
    this.#create = create
  }

  /** The number of remembered events. */
  get size(): number {
    return this.#size
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
    this.#size++
    this.#forgetOldest(now)
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
    const known = this.#reasons.get(key)
    // Delete and set again, because a Map keeps insertion order: the first entry is the oldest.
    if (known) this.#forget(key, known)
    const reason =
      known && now - known.lastAt <= expiryMs
        ? known
        : { byMessage: new Map<string, Series>(), combined: undefined, lastAt: now }
    reason.lastAt = now
    this.#reasons.set(key, reason)
    this.#size += sizeOf(reason)
    return reason
  }

  /** Drops the reasons that would start over, and the oldest ones above the limit. */
  #forgetOldest(now: number): void {
    for (const [key, reason] of this.#reasons) {
      if (this.#size <= rememberedEvents && now - reason.lastAt <= expiryMs) return
      this.#forget(key, reason)
    }
  }

  #forget(key: string, reason: ReasonOfObject): void {
    this.#reasons.delete(key)
    this.#size -= sizeOf(reason)
  }
}

function sizeOf({ byMessage, combined }: ReasonOfObject): number {
  return byMessage.size + (combined ? 1 : 0)
}
