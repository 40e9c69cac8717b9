// SPDX-License-Identifier: Apache-2.0

// Records Kubernetes events. Promised: recording never waits and never throws. A repeated event costs fewer and fewer
// writes; its count stays exact. Rare events are written before frequent ones and are not dropped for them. Warnings
// are written at once; Normal events yield to more important requests. Memory and requests are bounded. `stop` writes
// the remaining events, for a bounded time. Not promised: that an event survives the process if the API is
// unreachable, nor the order of stored events.
import type { Clock } from '../clock/index.ts'
import { type Logger, silentLogger } from '../log/index.ts'
import { counter, eventCatalogue, type Registry } from '../metrics/index.ts'
import { Deadlines } from '../queue/deadlines.ts'
import { type Backoff, backoffDelay } from '../queue/index.ts'
import { Correlation, type Series } from './correlation.ts'
import {
  type EventDescription,
  type EventSubject,
  renderEvent,
  renderRepeat,
  type StoredEvent,
} from './event.ts'
import { Lanes } from './lanes.ts'
import type { EventSink } from './sink.ts'

/** Limit of events that wait to be written. Beyond it, the least important are dropped. */
const defaultQueueLimit = 10_000
/** Concurrent requests, so that events leave room for other writes. */
const defaultParallelWrites = 4
/**
 * Normal events are written one at a time. After a write that was slow for this server, the recorder pauses for a
 * multiple of its duration. So a busy server, which responds slowly, receives few of them, and an idle server
 * receives all at once.
 */
const pausesPerWrite = 3
/** A write is slow if it takes this many times the quickest one. */
const slowWriteFactor = 2
/** Factor by which the quickest time grows with each write, so that it adapts. */
const quickestGrowth = 1.01
/** Waits between writes of one repeating series, and between attempts when the API fails. */
const repeatBackoff: Backoff = { baseMs: 1_000, capMs: 300_000, jitter: 0 }
const failureBackoff: Backoff = { baseMs: 500, capMs: 30_000, jitter: 0.5 }
/** About four minutes. */
const writeAttempts = 12

export interface EventRecorderOptions {
  readonly sink: EventSink
  readonly clock: Clock
  /** The instance among several equal processes, usually the host name. Stored with each event. */
  readonly instance?: string
  readonly queueLimit?: number
  readonly parallelWrites?: number
  readonly log?: Logger
  readonly registry?: Registry
  readonly random?: () => number
}

/** Records for one component. */
export interface Recorder {
  record(subject: EventSubject, event: EventDescription): void
}

interface RecordedSeries extends Series {
  /** The stored event; undefined before the first write. */
  stored: StoredEvent | undefined
  storedCount: number
  writes: number
  failures: number
  state: 'idle' | 'scheduled' | 'queued' | 'writing'
}

export class EventRecorder {
  readonly #options: EventRecorderOptions
  readonly #clock: Clock
  readonly #log: Logger
  readonly #correlation = new Correlation<RecordedSeries>(series => ({
    ...series,
    stored: undefined,
    storedCount: 0,
    writes: 0,
    failures: 0,
    state: 'idle',
  }))
  readonly #scheduled: Deadlines<RecordedSeries>
  readonly #lanes: Lanes<RecordedSeries>
  readonly #results
  readonly #cancel = new AbortController()
  #writing = 0
  /** Normal events wait: one is being written, or the pause after it is not over. */
  #normalEventsPaused = false
  #quickestMs = Number.POSITIVE_INFINITY
  #stopping: PromiseWithResolvers<void> | undefined

  constructor(options: EventRecorderOptions) {
    this.#options = options
    this.#clock = options.clock
    this.#log = options.log ?? silentLogger
    this.#scheduled = new Deadlines(options.clock, series => this.#enqueue(series))
    this.#lanes = new Lanes(options.queueLimit ?? defaultQueueLimit)
    this.#results = options.registry && counter(options.registry, eventCatalogue.events)
  }

  /** Returns a recorder whose events have this component as their source. */
  for(component: string): Recorder {
    return { record: (subject, event) => this.#record(component, subject, event) }
  }

  /** The number of events that wait to be written, including repeats. */
  get pending(): number {
    return this.#lanes.size + this.#scheduled.size + this.#writing
  }

  /** Accepts no further event and writes the remaining ones. Resolves when that is done or the time is over. */
  async stop(timeoutMs: number): Promise<void> {
    this.#stopping ??= Promise.withResolvers<void>()
    for (const series of this.#scheduled.keys()) this.#enqueue(series)
    this.#scheduled.clear()
    const timer = this.#clock.setTimeout(() => {
      this.#log.warn('Some events were not written before the process stopped', { events: this.pending })
      this.#cancel.abort(new Error('the recorder stopped'))
      this.#stopping?.resolve()
    }, timeoutMs)
    this.#resolveIfStopped()
    await this.#stopping.promise
    timer.cancel()
  }

  #record(component: string, subject: EventSubject, event: EventDescription): void {
    if (this.#stopping) return
    const series = this.#correlation.add(component, subject, event, this.#clock.now())
    if (series.state !== 'idle') return
    if (series.writes === 0) this.#enqueue(series)
    else
      this.#schedule(
        series,
        backoffDelay(repeatBackoff, series.writes, () => 0),
      )
  }

  #schedule(series: RecordedSeries, ms: number): void {
    series.state = 'scheduled'
    this.#scheduled.set(series, { after: ms })
  }

  #enqueue(series: RecordedSeries): void {
    series.state = 'queued'
    const dropped = this.#lanes.push(series, laneOf(series))
    if (dropped) this.#drop(dropped, 'too many wait')
    this.#write()
  }

  #drop(series: RecordedSeries, why: string): void {
    series.state = 'idle'
    series.failures = 0
    this.#results?.inc({ result: 'dropped' })
    const { namespace, name, kind } = series.subject
    this.#log.warn('Dropped an event', { why, reason: series.reason, kind, namespace, name })
  }

  #write(): void {
    while (this.#writing < (this.#options.parallelWrites ?? defaultParallelWrites)) {
      const warningsOnly = this.#normalEventsPaused && !this.#stopping
      const series = this.#lanes.shift(warningsOnly ? 1 : undefined)
      if (!series) return
      this.#writing++
      void this.#writePaced(series).then(() => {
        this.#writing--
        this.#write()
        this.#resolveIfStopped()
      })
    }
  }

  async #writePaced(series: RecordedSeries): Promise<void> {
    if (laneOf(series) === 0) return this.#writeOne(series)
    this.#normalEventsPaused = true
    const started = this.#clock.monotonic()
    await this.#writeOne(series)
    const pauseMs = this.#pauseAfter(this.#clock.monotonic() - started)
    if (this.#stopping || pauseMs < 1) this.#normalEventsPaused = false
    else
      this.#clock.setTimeout(() => {
        this.#normalEventsPaused = false
        this.#write()
      }, Math.ceil(pauseMs))
  }

  #pauseAfter(tookMs: number): number {
    this.#quickestMs = Math.min(tookMs, this.#quickestMs * quickestGrowth)
    return tookMs > slowWriteFactor * this.#quickestMs ? pausesPerWrite * tookMs : 0
  }

  async #writeOne(series: RecordedSeries): Promise<void> {
    series.state = 'writing'
    const counted = series.count
    try {
      const result = await this.#send(series)
      this.#results?.inc({ result })
      if (result === 'rejected') this.#log.debug('The server rejected an event', { reason: series.reason })
      series.storedCount = counted
      series.writes++
      series.failures = 0
      series.state = 'idle'
      if (series.count > counted)
        this.#retryLater(
          series,
          backoffDelay(repeatBackoff, series.writes, () => 0),
        )
    } catch (error) {
      if (this.#cancel.signal.aborted) return
      if (++series.failures >= writeAttempts) return this.#drop(series, String(error))
      this.#retryLater(
        series,
        backoffDelay(failureBackoff, series.failures, this.#options.random ?? Math.random),
      )
    }
  }

  /** While stopping, repeats are written at once and failures are retried after a moment. */
  #retryLater(series: RecordedSeries, ms: number): void {
    if (this.#stopping && series.failures === 0) this.#enqueue(series)
    else this.#schedule(series, this.#stopping ? failureBackoff.baseMs : ms)
  }

  async #send(series: RecordedSeries): Promise<'created' | 'repeated' | 'rejected'> {
    const { sink, instance = '' } = this.#options
    const current = { ...series, instance }
    if (series.stored) {
      const result = await sink.patch(series.stored, renderRepeat(current, sink.format), this.#cancel.signal)
      if (result !== 'gone') return result === 'written' ? 'repeated' : 'rejected'
      // Events expire after an hour. A later repeat becomes a new event with the old count.
      series.stored = undefined
    }
    series.stored ??= renderEvent(current, sink.format)
    const result = await sink.create(series.stored, this.#cancel.signal)
    if (result === 'rejected') series.stored = undefined
    return result === 'written' ? 'created' : 'rejected'
  }

  #resolveIfStopped(): void {
    if (this.pending === 0) this.#stopping?.resolve()
  }
}

/** Lower lanes are served first and dropped last. */
function laneOf(series: RecordedSeries): number {
  if (series.type === 'Warning' && series.writes === 0) return 0
  return series.writes === 0 && series.opensReason ? 1 : 2
}
