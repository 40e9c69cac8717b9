// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Transport, TransportRequest } from '../client/index.ts'
import { CacheBed, path, pod } from '../testing/cache-harness.ts'
import { failure, SimulatedServer } from '../testing/simulated-server.ts'

describe('WatchCache', () => {
  it('syncs with a streaming list, drops managedFields, and follows changes', async () => {
    const bed = new CacheBed()
    bed.server.write('POST', path, pod('a'))
    bed.server.write('POST', path, pod('b', 'y'))
    assert.equal(bed.cache.hasSynced, false)
    await bed.start()
    await bed.cache.waitForSync()
    assert.deepEqual(bed.heard(), ['add a', 'add b'])
    assert.equal(bed.cache.get({ namespace: 'ns', name: 'a' })?.metadata.managedFields, undefined)
    assert.deepEqual(
      bed.cache.byIndex('app', 'y').map(({ metadata }) => metadata.name),
      ['b'],
    )
    bed.server.write('PATCH', `${path}/b`, { metadata: { labels: { app: 'x' } } })
    bed.server.write('DELETE', `${path}/a`)
    bed.server.write('POST', path, pod('c'))
    await bed.clock.settle()
    assert.deepEqual(bed.heard(), ['update b', 'delete a', 'add c'])
    assert.equal(bed.cache.countByIndex('app', 'x'), 2)
    assert.equal(bed.server.requests.length, 1)
    await bed.stop()
    assert.equal(bed.server.watches, 0)
    assert.equal(bed.clock.pendingTimers, 0)
  })

  it('lists page by page if the server has no streaming lists, and asks for them only once', async () => {
    const bed = new CacheBed({ streamingList: false })
    for (let i = 0; i < 3; i++) bed.server.write('POST', path, pod(`p${i}`))
    await bed.start()
    await bed.clock.advance(1_000)
    assert.deepEqual(bed.names(), ['p0', 'p1', 'p2'])
    bed.server.write('POST', path, pod('p3'))
    await bed.clock.settle()
    assert.deepEqual(bed.names(), ['p0', 'p1', 'p2', 'p3'])
    bed.server.compact()
    bed.server.write('DELETE', `${path}/p0`)
    bed.server.compact()
    bed.server.cutWatches()
    await bed.clock.advance(1_000)
    assert.deepEqual(bed.names(), ['p1', 'p2', 'p3'])
    assert.equal(bed.server.requests.filter(({ path }) => path.includes('sendInitialEvents')).length, 1)
    await bed.stop()
  })

  for (const how of ['end', 'break', 'truncate'] as const)
    it(`continues from the last event when a watch is cut (${how})`, async () => {
      const bed = await new CacheBed().start()
      for (let i = 0; i < 10; i++) {
        bed.server.write('POST', path, pod(`p${i}`))
        if (how !== 'truncate') await bed.clock.settle()
        bed.server.cutWatches(how)
        bed.server.write('PATCH', `${path}/p${i}`, { spec: i })
        await bed.clock.advance(60_000)
      }
      const wanted = [...Array(10).keys()].flatMap(i => [`add p${i}`, `update p${i}`])
      assert.deepEqual(bed.heard(), wanted)
      assert.equal(bed.lists(), 1)
      await bed.stop()
    })

  it('reports exactly the differences when it has to list again', async () => {
    const bed = new CacheBed()
    for (const name of ['kept', 'changed', 'deleted', 'replaced']) bed.server.write('POST', path, pod(name))
    await bed.start()
    bed.heard()
    bed.server.cutWatches()
    bed.server.write('PATCH', `${path}/changed`, { spec: 1 })
    bed.server.write('DELETE', `${path}/deleted`)
    bed.server.write('DELETE', `${path}/replaced`)
    bed.server.write('POST', path, pod('replaced'))
    bed.server.write('POST', path, pod('added'))
    bed.server.compact()
    await bed.clock.advance(60_000)
    assert.deepEqual(bed.heard().sort(), [
      'add added',
      'add replaced',
      'delete deleted',
      'delete replaced',
      'update changed',
    ])
    assert.equal(bed.cache.status().lists, 2)
    await bed.stop()
  })

  for (const [code, reason] of [
    [429, 'TooManyRequests'],
    [500, 'InternalError'],
    [503, 'ServiceUnavailable'],
    [403, 'Forbidden'],
  ] as const)
    it(`keeps its objects and backs off while the server returns ${code}`, async () => {
      let broken = false
      const bed = new CacheBed({ watchFault: () => (broken ? failure(code, reason) : undefined) })
      bed.server.write('POST', path, pod('a'))
      await bed.start()
      broken = true
      bed.server.cutWatches()
      await bed.clock.advance(10 * 60_000)
      const attempts = bed.failures.length
      assert.ok(attempts >= 20 && attempts <= 40, `${attempts} attempts in ten minutes`)
      assert.deepEqual(bed.names(), ['a'])
      broken = false
      bed.server.write('POST', path, pod('b'))
      await bed.clock.advance(60_000)
      assert.deepEqual(bed.names(), ['a', 'b'])
      assert.equal(bed.lists(), 1)
      await bed.stop()
    })

  it('does not loop when a server ends every watch at once', async () => {
    const bed = new CacheBed({
      watchFault: ({ path }) =>
        path.includes('sendInitial') ? undefined : { status: 200, headers: {}, body: '' },
    })
    await bed.start()
    bed.server.cutWatches('end')
    await bed.clock.advance(10 * 60_000)
    assert.ok(bed.server.requests.length < 50, `${bed.server.requests.length} requests in ten minutes`)
    await bed.stop()
  })

  it('starts over when the cluster was restored from a backup with an older history', async () => {
    const past = new SimulatedServer()
    past.write('POST', path, pod('old'))
    const present = new SimulatedServer()
    for (let i = 0; i < 20; i++) present.write('POST', path, pod(`p${i}`))
    let current: Transport = present
    const bed = new CacheBed(
      {},
      {},
      {
        request: (request: TransportRequest) => current.request(request),
        stream: (request: TransportRequest) => current.stream(request),
        close: async () => {},
      },
    )
    await bed.start()
    assert.equal(bed.names().length, 20)
    current = past
    past.compact()
    const tooLarge = { details: { causes: [{ reason: 'ResourceVersionTooLarge' }] } }
    let refused = false
    const stream = past.stream.bind(past)
    past.stream = async request => {
      if (refused || request.path.includes('sendInitial')) return stream(request)
      refused = true
      const { body, ...rest } = failure(504, 'Timeout', {}, tooLarge)
      return {
        ...rest,
        body: (async function* () {
          yield Buffer.from(body)
        })(),
      }
    }
    present.cutWatches()
    await bed.clock.advance(60_000)
    assert.deepEqual(bed.names(), ['old'])
    past.write('POST', path, pod('new'))
    await bed.clock.advance(1_000)
    assert.deepEqual(bed.names(), ['new', 'old'])
    await bed.stop()
  })

  it('reports existing objects to a late handler, and continues when a handler throws', async () => {
    const errors: unknown[] = []
    const bed = new CacheBed({}, { onHandlerError: error => void errors.push(error) })
    bed.server.write('POST', path, pod('a'))
    await bed.start()
    const late: string[] = []
    bed.cache.onChange(() => {
      throw new Error('broken handler')
    })
    const unsubscribe = bed.cache.onChange(
      ({ type, new: now }) => void late.push(`${type} ${now?.metadata.name}`),
    )
    bed.server.write('POST', path, pod('b'))
    await bed.clock.settle()
    unsubscribe()
    bed.server.write('POST', path, pod('c'))
    await bed.clock.settle()
    assert.deepEqual(late, ['add a', 'add b'])
    assert.equal(errors.length, 3)
    await bed.stop()
  })

  it('stops waiting for the first list when the signal is aborted', async () => {
    const bed = new CacheBed({ watchFault: () => 'lose request' })
    await bed.start()
    const stop = new AbortController()
    const waiting = bed.cache.waitForSync(stop.signal)
    stop.abort(new Error('no time'))
    await assert.rejects(waiting, /no time/)
    await bed.stop()
  })
})
