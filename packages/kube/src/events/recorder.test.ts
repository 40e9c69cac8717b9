// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { createRegistry } from '../metrics/index.ts'
import { created, lost, MemorySink, recorder, set } from '../testing/test-recorder.ts'

describe('repeated events', () => {
  it('are one event with an exact count, written less and less often', async () => {
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

  it('with many different messages are combined after ten, and do not hide another reason of the object', async () => {
    const { clock, sink, of } = recorder()
    for (let pod = 0; pod < 5_000; pod++) of.record(set, created(`p${pod}`))
    of.record(set, lost)
    of.record(set, { ...lost, type: 'Normal', reason: 'ShipDeleteSuccessful' })
    await clock.advance(600_000)
    const reasons = sink.events.map(event => event.reason)
    assert.ok(reasons.includes('AllScheduledReplicasLost'))
    assert.ok(reasons.includes('ShipDeleteSuccessful'))
    const pods = sink.events.filter(event => event.reason === 'PodCreateSuccessful')
    assert.equal(pods.length, 11)
    const combined = pods.find(event => event.message.startsWith('(combined'))
    assert.equal(combined!.message, '(combined from similar events): Created Pod: p4999')
    assert.equal(combined!.count, 4_990)
  })

  it('start over after ten quiet minutes', async () => {
    const { clock, sink, of } = recorder()
    for (let pod = 0; pod < 20; pod++) of.record(set, created(`p${pod}`))
    await clock.advance(600_001)
    of.record(set, created('later'))
    await clock.advance(1_000)
    assert.ok(sink.events.some(event => event.message === 'Created Pod: later'))
  })

  it('create a new event with the old count if the stored one has expired', async () => {
    const { clock, sink, of } = recorder()
    of.record(set, lost)
    await clock.flushPromises()
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
    await clock.flushPromises()
    assert.equal(sink.events.length, 3)
  })

  it('lose no count, with any failure in between', async () => {
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

describe('a recorder on a slow API server', () => {
  it('keeps recording with bounded memory, and prefers rare events to frequent ones', async () => {
    const registry = createRegistry()
    const sink = new MemorySink()
    sink.mode = 'hangs'
    const { clock, events, of } = recorder({ sink, queueLimit: 100, registry })
    for (let i = 0; i < 1_000; i++)
      for (let pod = 0; pod < 10; pod++) of.record({ ...set, uid: `u${i % 50}` }, created(`p${i}-${pod}`))
    of.record(set, lost)
    of.record(set, { ...lost, type: 'Normal', reason: 'Rare' })
    await clock.flushPromises()
    assert.ok(events.pending <= 104)
    assert.match(await registry.metrics(), /event_recorder_events_total\{result="dropped"\} \d{3}/)
    sink.resume()
    await clock.advance(600_000)
    const reasons = new Set(sink.events.map(event => event.reason))
    assert.deepEqual(reasons, new Set(['PodCreateSuccessful', 'AllScheduledReplicasLost', 'Rare']))
  })

  it('writes warnings first', async () => {
    const sink = new MemorySink()
    const { clock, of } = recorder({ sink, parallelWrites: 1 })
    sink.mode = 'fails'
    of.record(set, created('blocks'))
    await clock.flushPromises()
    for (let pod = 0; pod < 5; pod++) of.record(set, created(`p${pod}`))
    of.record({ ...set, uid: 'u2' }, created('first of its object'))
    of.record(set, lost)
    sink.mode = 'works'
    await clock.advance(60_000)
    const order = sink.events.map(event => event.message)
    assert.ok(order.indexOf('All lost') < order.indexOf('Created Pod: p4'))
  })

  it('writes Normal events without a pause on an idle server, and rarely on a busy one', async () => {
    const sink = new MemorySink()
    const { clock, of } = recorder({ sink })
    const writesWithin = async (ms: number, eachMs: number) => {
      const before = sink.stored.size
      sink.responseDelay = () => clock.sleep(eachMs)
      await clock.advance(ms)
      return sink.stored.size - before
    }
    sink.responseDelay = () => clock.sleep(2)
    for (let pod = 0; pod < 300; pod++) of.record({ ...set, uid: `u${pod}` }, created(`p${pod}`))
    assert.equal(await writesWithin(100, 2), 50)
    assert.ok((await writesWithin(4_000, 100)) <= 11)
    assert.ok((await writesWithin(300, 2)) >= 50)
  })

  it('gives up an event after a bounded number of attempts', async () => {
    const sink = new MemorySink()
    sink.mode = 'fails'
    const { clock, events, of } = recorder({ sink })
    of.record(set, lost)
    await clock.advance(3_600_000)
    assert.equal(sink.requests, 12)
    assert.equal(events.pending, 0)
  })

  it('does not retry a rejected event', async () => {
    const sink = new MemorySink()
    sink.mode = 'rejects'
    const { clock, of } = recorder({ sink })
    of.record(set, lost)
    await clock.advance(3_600_000)
    assert.equal(sink.requests, 1)
  })
})

describe('Recorder.stop', () => {
  it('writes the remaining events at once, including counts', async () => {
    const { clock, sink, events, of } = recorder()
    of.record(set, lost)
    await clock.flushPromises()
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
