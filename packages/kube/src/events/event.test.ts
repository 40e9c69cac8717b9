// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { lost, MemorySink, recorder, set } from '../testing/test-recorder.ts'
import { subjectOf } from './event.ts'

describe('events', () => {
  it('are stored as core/v1 with source, object and times', async () => {
    const { clock, sink, of } = recorder({ instance: 'host-a' })
    of.record(set, lost)
    await clock.flushPromises()
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
        source: { component: 'fleet-controller', host: 'host-a' },
        reportingComponent: 'fleet-controller',
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
    await clock.flushPromises()
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
        reportingController: 'fleet-controller',
        reportingInstance: 'fleet-controller',
        eventTime: '2026-01-01T00:00:00.000000Z',
        series: { count: 2, lastObservedTime: '2026-01-01T00:00:00.000000Z' },
      },
    )
  })

  it('of cluster-scoped objects are stored in the namespace default', async () => {
    const { clock, sink, of } = recorder()
    of.record({ apiVersion: 'v1', kind: 'Node', name: 'n1' }, lost)
    await clock.flushPromises()
    assert.equal(sink.events[0]!.metadata.namespace, 'default')
  })

  it('are truncated to the limits of the API, and keep a valid name', async () => {
    const { clock, sink, of } = recorder()
    of.record(
      { ...set, name: `${'a'.repeat(199)}.${'b'.repeat(53)}` },
      { ...lost, message: 'ä'.repeat(1_000) },
    )
    await clock.flushPromises()
    const [event] = sink.events
    assert.ok(Buffer.byteLength(event!.message) <= 1_024)
    assert.match(event!.message, /^ä+…$/)
    assert.match(event!.metadata.name, /^a+\.[0-9a-f]{16}$/)
  })

  it('take the kind of their object from the resource, because items of lists have none', () => {
    const pods = {
      group: 'example.com',
      version: 'v1',
      resource: 'ships',
      kind: 'Ship',
      namespaced: true,
    }
    assert.deepEqual(
      subjectOf(pods, { metadata: { name: 'a', namespace: 'b', uid: 'c', resourceVersion: '7' } }),
      {
        apiVersion: 'example.com/v1',
        kind: 'Ship',
        name: 'a',
        namespace: 'b',
        uid: 'c',
        resourceVersion: '7',
      },
    )
  })
})
