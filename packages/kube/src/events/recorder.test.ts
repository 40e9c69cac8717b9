// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { KubeError, type KubeErrorCode } from '../client/error.ts'
import { FakeClock } from '../clock/index.ts'
import { createRegistry } from '../metrics/index.ts'
import {
  type EventDescription,
  type EventFormat,
  type EventSubject,
  type StoredEvent,
  subjectOf,
} from './event.ts'
import { EventRecorder, type EventRecorderOptions } from './recorder.ts'
import { type EventSink, eventSink } from './sink.ts'

const set: EventSubject = {
  apiVersion: 'grove.io/v1alpha1',
  kind: 'PodCliqueSet',
  namespace: 'team',
  name: 'llm',
  uid: 'u1',
}
const created = (pod: string): EventDescription => ({
  type: 'Normal',
  reason: 'PodCreateSuccessful',
  message: `Created Pod: ${pod}`,
})
const lost: EventDescription = { type: 'Warning', reason: 'AllScheduledReplicasLost', message: 'All lost' }

type Stored = StoredEvent & { reason: string; message: string; count: number; type: string }

class MemorySink implements EventSink {
  readonly format: EventFormat
  readonly stored = new Map<string, Stored>()
  requests = 0
  mode: 'works' | 'fails' | 'hangs' | 'refuses' = 'works'
  readonly #hanging: (() => void)[] = []

  /** Answers what hangs, and what comes. */
  resume(): void {
    this.mode = 'works'
    for (const answer of this.#hanging.splice(0)) answer()
  }

  constructor(format: EventFormat = 'core/v1') {
    this.format = format
  }

  async create(event: StoredEvent, signal: AbortSignal) {
    const refused = await this.#request(signal)
    if (!refused) this.stored.set(event.metadata.name, event as Stored)
    return refused ?? ('written' as const)
  }

  async patch(event: StoredEvent, patch: object, signal: AbortSignal) {
    const refused = await this.#request(signal)
    const before = this.stored.get(event.metadata.name)
    if (!before) return 'gone'
    this.stored.set(event.metadata.name, { ...before, ...patch })
    return refused ?? ('written' as const)
  }

  async #request(signal: AbortSignal): Promise<'refused' | undefined> {
    this.requests++
    if (this.mode === 'fails') throw new Error('no route to host')
    if (this.mode === 'hangs')
      await new Promise<void>((resolve, reject) => {
        this.#hanging.push(resolve)
        signal.addEventListener('abort', () => reject(signal.reason))
      })
    return this.mode === 'refuses' ? 'refused' : undefined
  }

  get events(): Stored[] {
    return [...this.stored.values()]
  }
}

function recorder(options: Partial<EventRecorderOptions> & { sink?: MemorySink } = {}) {
  const clock = new FakeClock(Date.UTC(2026, 0, 1))
  const sink = options.sink ?? new MemorySink()
  const events = new EventRecorder({ clock, random: () => 0, ...options, sink })
  return { clock, sink, events, of: events.for('podclique-controller') }
}

describe('an event', () => {
  it('is stored as core/v1 with its source, its object and its times', async () => {
    const { clock, sink, of } = recorder({ instance: 'host-a' })
    of.record(set, lost)
    await clock.settle()
    const [event] = sink.events
    assert.match(event!.metadata.name, /^llm\.[0-9a-f]{16}$/)
    assert.deepEqual(
      { ...event, metadata: { namespace: event!.metadata.namespace } },
      {
        apiVersion: 'v1',
        kind: 'Event',
        metadata: { namespace: 'team' },
        involvedObject: set,
        reason: 'AllScheduledReplicasLost',
        message: 'All lost',
        type: 'Warning',
        source: { component: 'podclique-controller', host: 'host-a' },
        reportingComponent: 'podclique-controller',
        reportingInstance: 'host-a',
        firstTimestamp: '2026-01-01T00:00:00Z',
        lastTimestamp: '2026-01-01T00:00:00Z',
        count: 1,
      },
    )
  })

  it('can be stored as events.k8s.io/v1', async () => {
    const { clock, sink, of } = recorder({ sink: new MemorySink('events.k8s.io/v1') })
    of.record(set, lost)
    await clock.settle()
    of.record(set, lost)
    await clock.advance(1_000)
    const [event] = sink.events as unknown as Record<string, unknown>[]
    assert.deepEqual(
      { ...event, metadata: undefined },
      {
        apiVersion: 'events.k8s.io/v1',
        kind: 'Event',
        metadata: undefined,
        regarding: set,
        reason: 'AllScheduledReplicasLost',
        note: 'All lost',
        type: 'Warning',
        action: 'AllScheduledReplicasLost',
        reportingController: 'podclique-controller',
        reportingInstance: 'podclique-controller',
        eventTime: '2026-01-01T00:00:00.000000Z',
        series: { count: 2, lastObservedTime: '2026-01-01T00:00:00.000000Z' },
      },
    )
  })

  it('of a cluster-scoped object is stored in the namespace default', async () => {
    const { clock, sink, of } = recorder()
    of.record({ apiVersion: 'v1', kind: 'Node', name: 'n1' }, lost)
    await clock.settle()
    assert.equal(sink.events[0]!.metadata.namespace, 'default')
  })

  it('is cut where it is longer than the API takes, and its name stays valid', async () => {
    const { clock, sink, of } = recorder()
    of.record(
      { ...set, name: `${'a'.repeat(199)}.${'b'.repeat(53)}` },
      { ...lost, message: 'ä'.repeat(1_000) },
    )
    await clock.settle()
    const [event] = sink.events
    assert.ok(Buffer.byteLength(event!.message) <= 1_024)
    assert.match(event!.message, /^ä+…$/)
    assert.match(event!.metadata.name, /^a+\.[0-9a-f]{16}$/)
  })

  it('knows its object by the resource, because objects out of lists do not say their kind', () => {
    const pods = {
      group: 'grove.io',
      version: 'v1alpha1',
      resource: 'podcliques',
      kind: 'PodClique',
      namespaced: true,
    }
    assert.deepEqual(
      subjectOf(pods, { metadata: { name: 'a', namespace: 'b', uid: 'c', resourceVersion: '7' } }),
      {
        apiVersion: 'grove.io/v1alpha1',
        kind: 'PodClique',
        name: 'a',
        namespace: 'b',
        uid: 'c',
        resourceVersion: '7',
      },
    )
  })
})

describe('repeated events', () => {
  it('are one event with an exact count, written ever less often', async () => {
    const { clock, sink, of } = recorder()
    for (let second = 0; second < 3_600; second++) {
      of.record(set, lost)
      await clock.advance(1_000)
    }
    await clock.advance(600_000)
    assert.equal(sink.events.length, 1)
    assert.equal(sink.events[0]!.count, 3_600)
    assert.ok(sink.requests <= 25, `${sink.requests} requests`)
  })

  it('that say ever new things are combined after ten, and do not hide another reason of the object', async () => {
    const { clock, sink, of } = recorder()
    for (let pod = 0; pod < 5_000; pod++) of.record(set, created(`p${pod}`))
    of.record(set, lost)
    of.record(set, { ...lost, type: 'Normal', reason: 'PodCliqueDeleteSuccessful' })
    await clock.advance(600_000)
    const reasons = sink.events.map(event => event.reason)
    assert.ok(reasons.includes('AllScheduledReplicasLost'))
    assert.ok(reasons.includes('PodCliqueDeleteSuccessful'))
    const pods = sink.events.filter(event => event.reason === 'PodCreateSuccessful')
    assert.equal(pods.length, 11)
    const combined = pods.find(event => event.message.startsWith('(combined'))
    assert.equal(combined!.message, '(combined from similar events): Created Pod: p4999')
    assert.equal(combined!.count, 4_990)
  })

  it('start afresh after ten quiet minutes', async () => {
    const { clock, sink, of } = recorder()
    for (let pod = 0; pod < 20; pod++) of.record(set, created(`p${pod}`))
    await clock.advance(600_001)
    of.record(set, created('later'))
    await clock.advance(1_000)
    assert.ok(sink.events.some(event => event.message === 'Created Pod: later'))
  })

  it('make a new event with the old count when the store has forgotten theirs', async () => {
    const { clock, sink, of } = recorder()
    of.record(set, lost)
    await clock.settle()
    sink.stored.clear()
    of.record(set, lost)
    await clock.advance(10_000)
    assert.deepEqual(
      sink.events.map(event => event.count),
      [2],
    )
  })

  it('of different components or objects are different events', async () => {
    const { clock, sink, events } = recorder()
    events.for('a').record(set, lost)
    events.for('b').record(set, lost)
    events.for('a').record({ ...set, uid: 'u2' }, lost)
    await clock.settle()
    assert.equal(sink.events.length, 3)
  })

  it('lose no count, whatever fails in between', async () => {
    const step = fc.oneof(
      fc.record({ record: fc.nat(2) }),
      fc.record({ advance: fc.nat(30_000) }),
      fc.record({ works: fc.boolean() }),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async steps => {
        const { clock, sink, of } = recorder()
        const counts = [0, 0, 0]
        for (const event of steps) {
          if ('record' in event) {
            counts[event.record]!++
            of.record(set, created(String(event.record)))
          } else if ('works' in event) sink.mode = event.works ? 'works' : 'fails'
          else await clock.advance(event.advance % 2_000)
        }
        sink.mode = 'works'
        await clock.advance(600_000)
        for (const [pod, count] of counts.entries()) {
          const stored = sink.events.filter(event => event.message === `Created Pod: ${pod}`)
          assert.equal(stored.length, count > 0 ? 1 : 0)
          assert.equal(stored[0]?.count ?? 0, count)
        }
      }),
      { numRuns: 40 },
    )
  })
})

describe('when the API cannot keep up', () => {
  it('recording goes on, memory is bounded, and what is rare is kept for what is frequent', async () => {
    const registry = createRegistry()
    const sink = new MemorySink()
    sink.mode = 'hangs'
    const { clock, events, of } = recorder({ sink, queueLimit: 100, registry })
    for (let i = 0; i < 1_000; i++)
      for (let pod = 0; pod < 10; pod++) of.record({ ...set, uid: `u${i % 50}` }, created(`p${i}-${pod}`))
    of.record(set, lost)
    of.record(set, { ...lost, type: 'Normal', reason: 'Rare' })
    await clock.settle()
    assert.ok(events.pending <= 104)
    assert.match(await registry.metrics(), /event_recorder_events_total\{result="dropped"\} \d{3}/)
    sink.resume()
    await clock.advance(600_000)
    const reasons = new Set(sink.events.map(event => event.reason))
    assert.deepEqual(reasons, new Set(['PodCreateSuccessful', 'AllScheduledReplicasLost', 'Rare']))
  })

  it('warnings leave first', async () => {
    const sink = new MemorySink()
    const { clock, of } = recorder({ sink, parallelWrites: 1 })
    sink.mode = 'fails'
    of.record(set, created('blocks'))
    await clock.settle()
    for (let pod = 0; pod < 5; pod++) of.record(set, created(`p${pod}`))
    of.record({ ...set, uid: 'u2' }, created('first of its object'))
    of.record(set, lost)
    sink.mode = 'works'
    await clock.advance(60_000)
    const order = sink.events.map(event => event.message)
    assert.ok(order.indexOf('All lost') < order.indexOf('Created Pod: p4'))
  })

  it('gives an event up after a bounded number of attempts', async () => {
    const sink = new MemorySink()
    sink.mode = 'fails'
    const { clock, events, of } = recorder({ sink })
    of.record(set, lost)
    await clock.advance(3_600_000)
    assert.equal(sink.requests, 12)
    assert.equal(events.pending, 0)
  })

  it('does not repeat what the server refused', async () => {
    const sink = new MemorySink()
    sink.mode = 'refuses'
    const { clock, of } = recorder({ sink })
    of.record(set, lost)
    await clock.advance(3_600_000)
    assert.equal(sink.requests, 1)
  })
})

describe('stopping the recorder', () => {
  it('writes what is left at once, counts included', async () => {
    const { clock, sink, events, of } = recorder()
    of.record(set, lost)
    await clock.settle()
    of.record(set, lost)
    of.record(set, lost)
    of.record(set, created('p'))
    await events.stop(5_000)
    assert.deepEqual(sink.events.map(event => event.count).sort(), [1, 3])
    of.record(set, created('too late'))
    await clock.advance(60_000)
    assert.equal(sink.events.length, 2)
  })

  it('takes bounded time', async () => {
    const sink = new MemorySink()
    sink.mode = 'hangs'
    const { clock, events, of } = recorder({ sink })
    of.record(set, lost)
    const stopping = events.stop(5_000)
    await clock.advance(5_000)
    await stopping
    assert.equal(clock.pendingTimers, 0)
  })
})

describe('the sink over the API', () => {
  const sinkThatFails = (code: KubeErrorCode) => {
    const fail = () => Promise.reject(new KubeError({ code, message: code }))
    return eventSink({ create: fail, patch: fail })
  }
  const event: StoredEvent = { metadata: { name: 'a', namespace: 'b' } }
  const { signal } = new AbortController()

  it('tells what will never be taken from what may be taken later', async () => {
    assert.equal(await sinkThatFails('Forbidden').create(event, signal), 'refused')
    assert.equal(await sinkThatFails('AlreadyExists').create(event, signal), 'written')
    assert.equal(await sinkThatFails('NotFound').patch(event, {}, signal), 'gone')
    assert.equal(await sinkThatFails('Invalid').patch(event, {}, signal), 'refused')
    for (const code of ['Network', 'Timeout', 'TooManyRequests', 'ServiceUnavailable'] as const)
      await assert.rejects(sinkThatFails(code).create(event, signal))
  })
})
