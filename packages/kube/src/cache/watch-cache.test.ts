// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Transport, TransportRequest } from '../client/index.ts'
import { CacheHarness, path, pod } from '../testing/cache-harness.ts'
import { failure, SimulatedServer } from '../testing/simulated-server.ts'

describe('WatchCache', () => {
  it('syncs with a streaming list, drops managedFields, and follows changes', async () => {
    const harness = new CacheHarness()
    harness.server.write('POST', path, pod('a'))
    harness.server.write('POST', path, pod('b', 'y'))
    assert.equal(harness.cache.hasSynced, false)
    await harness.start()
    await harness.cache.waitForSync()
    assert.deepEqual(harness.takeChanges(), ['add a', 'add b'])
    assert.equal(harness.cache.get({ namespace: 'ns', name: 'a' })?.metadata.managedFields, undefined)
    assert.deepEqual(
      harness.cache.byIndex('app', 'y').map(({ metadata }) => metadata.name),
      ['b'],
    )
    harness.server.write('PATCH', `${path}/b`, { metadata: { labels: { app: 'x' } } })
    harness.server.write('DELETE', `${path}/a`)
    harness.server.write('POST', path, pod('c'))
    await harness.clock.flushPromises()
    assert.deepEqual(harness.takeChanges(), ['update b', 'delete a', 'add c'])
    assert.equal(harness.cache.countByIndex('app', 'x'), 2)
    assert.equal(harness.server.requests.length, 1)
    await harness.stop()
    assert.equal(harness.server.watches, 0)
    assert.equal(harness.clock.pendingTimers, 0)
  })

  it('lists page by page if the server has no streaming lists, and asks for them only once', async () => {
    const harness = new CacheHarness({ streamingList: false })
    for (let i = 0; i < 3; i++) harness.server.write('POST', path, pod(`p${i}`))
    await harness.start()
    await harness.clock.advance(1_000)
    assert.deepEqual(harness.names(), ['p0', 'p1', 'p2'])
    harness.server.write('POST', path, pod('p3'))
    await harness.clock.flushPromises()
    assert.deepEqual(harness.names(), ['p0', 'p1', 'p2', 'p3'])
    harness.server.compact()
    harness.server.write('DELETE', `${path}/p0`)
    harness.server.compact()
    harness.server.cutWatches()
    await harness.clock.advance(1_000)
    assert.deepEqual(harness.names(), ['p1', 'p2', 'p3'])
    assert.equal(harness.server.requests.filter(({ path }) => path.includes('sendInitialEvents')).length, 1)
    await harness.stop()
  })

  for (const how of ['end', 'break', 'truncate'] as const)
    it(`continues from the last event when a watch is cut (${how})`, async () => {
      const harness = await new CacheHarness().start()
      for (let i = 0; i < 10; i++) {
        harness.server.write('POST', path, pod(`p${i}`))
        if (how !== 'truncate') await harness.clock.flushPromises()
        harness.server.cutWatches(how)
        harness.server.write('PATCH', `${path}/p${i}`, { spec: i })
        await harness.clock.advance(60_000)
      }
      const wanted = [...Array(10).keys()].flatMap(i => [`add p${i}`, `update p${i}`])
      assert.deepEqual(harness.takeChanges(), wanted)
      assert.equal(harness.lists(), 1)
      await harness.stop()
    })

  it('reports exactly the differences when it has to list again', async () => {
    const harness = new CacheHarness()
    for (const name of ['kept', 'changed', 'deleted', 'replaced'])
      harness.server.write('POST', path, pod(name))
    await harness.start()
    harness.takeChanges()
    harness.server.cutWatches()
    harness.server.write('PATCH', `${path}/changed`, { spec: 1 })
    harness.server.write('DELETE', `${path}/deleted`)
    harness.server.write('DELETE', `${path}/replaced`)
    harness.server.write('POST', path, pod('replaced'))
    harness.server.write('POST', path, pod('added'))
    harness.server.compact()
    await harness.clock.advance(60_000)
    assert.deepEqual(harness.takeChanges().sort(), [
      'add added',
      'add replaced',
      'delete deleted',
      'delete replaced',
      'update changed',
    ])
    assert.equal(harness.cache.status().lists, 2)
    await harness.stop()
  })

  for (const [code, reason] of [
    [429, 'TooManyRequests'],
    [500, 'InternalError'],
    [503, 'ServiceUnavailable'],
    [403, 'Forbidden'],
  ] as const)
    it(`keeps its objects and backs off while the server returns ${code}`, async () => {
      let broken = false
      const harness = new CacheHarness({ watchFault: () => (broken ? failure(code, reason) : undefined) })
      harness.server.write('POST', path, pod('a'))
      await harness.start()
      broken = true
      harness.server.cutWatches()
      await harness.clock.advance(10 * 60_000)
      const attempts = harness.failures.length
      assert.ok(attempts >= 20 && attempts <= 40, `${attempts} attempts in ten minutes`)
      assert.deepEqual(harness.names(), ['a'])
      broken = false
      harness.server.write('POST', path, pod('b'))
      await harness.clock.advance(60_000)
      assert.deepEqual(harness.names(), ['a', 'b'])
      assert.equal(harness.lists(), 1)
      await harness.stop()
    })

  it('does not loop when a server ends every watch at once', async () => {
    const harness = new CacheHarness({
      watchFault: ({ path }) =>
        path.includes('sendInitial') ? undefined : { status: 200, headers: {}, body: '' },
    })
    await harness.start()
    harness.server.cutWatches('end')
    await harness.clock.advance(10 * 60_000)
    assert.ok(
      harness.server.requests.length < 50,
      `${harness.server.requests.length} requests in ten minutes`,
    )
    await harness.stop()
  })

  it('starts over when the cluster was restored from a backup with an older history', async () => {
    const past = new SimulatedServer()
    past.write('POST', path, pod('old'))
    const present = new SimulatedServer()
    for (let i = 0; i < 20; i++) present.write('POST', path, pod(`p${i}`))
    let current: Transport = present
    const harness = new CacheHarness(
      {},
      {},
      {
        request: (request: TransportRequest) => current.request(request),
        stream: (request: TransportRequest) => current.stream(request),
        close: async () => {},
      },
    )
    await harness.start()
    assert.equal(harness.names().length, 20)
    current = past
    past.compact()
    const tooLarge = { details: { causes: [{ reason: 'ResourceVersionTooLarge' }] } }
    let rejected = false
    const stream = past.stream.bind(past)
    past.stream = async request => {
      if (rejected || request.path.includes('sendInitial')) return stream(request)
      rejected = true
      const { body, ...rest } = failure(504, 'Timeout', {}, tooLarge)
      return {
        ...rest,
        body: (async function* () {
          yield Buffer.from(body)
        })(),
      }
    }
    present.cutWatches()
    await harness.clock.advance(60_000)
    assert.deepEqual(harness.names(), ['old'])
    past.write('POST', path, pod('new'))
    await harness.clock.advance(1_000)
    assert.deepEqual(harness.names(), ['new', 'old'])
    await harness.stop()
  })

  it('reports existing objects to a late handler, and continues when a handler throws', async () => {
    const errors: unknown[] = []
    const harness = new CacheHarness({}, { onHandlerError: error => void errors.push(error) })
    harness.server.write('POST', path, pod('a'))
    await harness.start()
    const late: string[] = []
    harness.cache.onChange(() => {
      throw new Error('broken handler')
    })
    const unsubscribe = harness.cache.onChange(
      ({ type, new: now }) => void late.push(`${type} ${now?.metadata.name}`),
    )
    harness.server.write('POST', path, pod('b'))
    await harness.clock.flushPromises()
    unsubscribe()
    harness.server.write('POST', path, pod('c'))
    await harness.clock.flushPromises()
    assert.deepEqual(late, ['add a', 'add b'])
    assert.equal(errors.length, 3)
    await harness.stop()
  })

  it('stops waiting for the first list when the signal is aborted', async () => {
    const harness = new CacheHarness({ watchFault: () => 'lose request' })
    await harness.start()
    const stop = new AbortController()
    const waiting = harness.cache.waitForSync(stop.signal)
    stop.abort(new Error('no time'))
    await assert.rejects(waiting, /no time/)
    await harness.stop()
  })
})
