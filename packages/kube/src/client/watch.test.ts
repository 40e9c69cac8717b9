// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { failure, SimulatedServer } from '../testing/simulated-server.ts'
import { createClientOn } from './create-client.ts'
import { isKubeError } from './error.ts'
import { defineResource } from './resource.ts'
import type { TransportStream } from './transport.ts'
import { readWatch, type WatchEvent } from './watch.ts'

const request = { verb: 'watch', path: '/x' }
const pods = defineResource({ group: '', version: 'v1', resource: 'pods', kind: 'Pod', namespaced: true })

function streamOf(...chunks: string[]): TransportStream {
  return {
    status: 200,
    headers: {},
    body: (async function* () {
      for (const chunk of chunks) yield Buffer.from(chunk)
    })(),
  }
}

async function read(...chunks: string[]): Promise<WatchEvent[]> {
  const events: WatchEvent[] = []
  await readWatch(streamOf(...chunks), request, event => void events.push(event))
  return events
}

describe('readWatch', () => {
  it('returns events and bookmarks, and drops a truncated line', async () => {
    const added = { type: 'ADDED', object: { metadata: { name: 'a', resourceVersion: '1' } } }
    const bookmark = (annotations?: object) => ({
      type: 'BOOKMARK',
      object: { metadata: { resourceVersion: '2', annotations } },
    })
    const end = { 'k8s.io/initial-events-end': 'true' }
    assert.deepEqual(
      await read(
        `${JSON.stringify(added)}\n${JSON.stringify(bookmark())}\n`,
        `${JSON.stringify(bookmark(end))}\n{"type":"ADD`,
      ),
      [
        added,
        { type: 'BOOKMARK', resourceVersion: '2', initialEventsEnd: false },
        { type: 'BOOKMARK', resourceVersion: '2', initialEventsEnd: true },
      ],
    )
  })

  it('returns events of known versions as bookmarks', async () => {
    const event = (type: string, resourceVersion: string, more: object = {}) => ({
      type,
      object: {
        kind: 'Pod',
        metadata: { name: 'a', ...more, resourceVersion },
        spec: { resourceVersion: '9' },
      },
    })
    const unknown = [
      event('ADDED', '7'),
      event('DELETED', '2'),
      event('MODIFIED', '8', { annotations: { resourceVersion: '2' } }),
    ]
    const known = event('MODIFIED', '2', {
      annotations: { resourceVersion: '7', '"resourceVersion":"7"': 'ü' },
      managedFields: [{ resourceVersion: '7' }],
    })
    const events: WatchEvent[] = []
    const text = [...unknown, known].map(each => `${JSON.stringify(each)}\n`)
    for (const managedFields of [true, false])
      await readWatch(
        streamOf(...text),
        request,
        each => void events.push(each),
        managedFields,
        new Set(['2', '9']),
      )
    const bookmark = { type: 'BOOKMARK', resourceVersion: '2', initialEventsEnd: false }
    assert.deepEqual(events, [...unknown, bookmark, ...unknown, bookmark])
  })

  it('throws the error of an ERROR event', async () => {
    const status = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old resource version' }
    await assert.rejects(read(`${JSON.stringify({ type: 'ERROR', object: status })}\n`), error => {
      assert.ok(isKubeError(error, 'Gone'))
      assert.equal(error.message, 'too old resource version')
      return true
    })
  })

  for (const line of [
    'not json',
    'null',
    '{"type":"ADDED"}',
    '{"type":"OTHER","object":{}}',
    '{"type":"BOOKMARK","object":{}}',
    '{"type":"ADDED","object":"text"}',
    '{"type":"ADDED","object":{"metadata":null}}',
    '{"type":"MODIFIED","object":{"metadata":{"resourceVersion":"1"}}}',
  ])
    it(`rejects ${line}`, async () => {
      await assert.rejects(read(`${line}\n`), error => isKubeError(error, 'Malformed'))
    })

  it('rethrows an exception of the callback', async () => {
    const metadata = { name: 'a', uid: 'u', resourceVersion: '1' }
    const line = `${JSON.stringify({ type: 'ADDED', object: { metadata } })}\n`
    const stopped = readWatch(streamOf(line), request, () => {
      throw new RangeError('mine')
    })
    await assert.rejects(stopped, /mine/)
  })
})

describe('client.watch', () => {
  it("starts at the given version, ends with the server's response, and stops on its signal", async () => {
    const server = new SimulatedServer()
    const client = createClientOn(server)
    server.write('POST', '/api/v1/namespaces/ns/pods', { metadata: { name: 'a', namespace: 'ns' } })
    const from = server.resourceVersion
    server.write('POST', '/api/v1/namespaces/ns/pods', { metadata: { name: 'b', namespace: 'ns' } })
    const names: string[] = []
    const stop = new AbortController()
    const options = { namespace: 'ns', resourceVersion: from, timeoutSeconds: 9, signal: stop.signal }
    const note = (event: WatchEvent) => {
      if (event.type !== 'BOOKMARK') names.push(event.object.metadata.name)
      server.cutWatches('end')
    }
    await client.watch(pods, options, note)
    assert.deepEqual(names, ['b'])
    assert.equal(
      server.requests.at(-1)?.path,
      `/api/v1/namespaces/ns/pods?watch=true&allowWatchBookmarks=true&resourceVersion=${from}&timeoutSeconds=9`,
    )
    const stopped = client.watch(pods, { ...options, resourceVersion: server.resourceVersion }, note)
    stop.abort()
    await assert.rejects(stopped, error => isKubeError(error, 'Aborted'))
  })

  it('fails with the code of a rejected watch', async () => {
    const client = createClientOn(new SimulatedServer({ watchFault: () => failure(410, 'Expired') }))
    await assert.rejects(
      client.watch(pods, { resourceVersion: '1' }, () => {}),
      error => isKubeError(error, 'Gone'),
    )
  })
})
