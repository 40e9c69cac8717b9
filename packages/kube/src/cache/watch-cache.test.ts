// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import {
  createClientOn,
  defineResource,
  type KubeError,
  type KubeObject,
  type Transport,
  type TransportRequest,
} from '../client/index.ts'
import { failure, SimulatedServer, type SimulatedServerOptions } from '../client/simulated-server.ts'
import { FakeClock } from '../clock/index.ts'
import type { Change } from './change.ts'
import { byLabel } from './projection.ts'
import { WatchCache, type WatchCacheOptions } from './watch-cache.ts'

const pods = defineResource({ group: '', version: 'v1', resource: 'pods', kind: 'Pod', namespaced: true })
const path = '/api/v1/namespaces/ns/pods'
const pod = (name: string, app = 'x') => ({
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: { name, namespace: 'ns', labels: { app }, managedFields: [{}] },
})

class Bed {
  readonly clock = new FakeClock()
  readonly changes: Change<KubeObject>[] = []
  readonly failures: KubeError[] = []
  readonly server: SimulatedServer
  readonly cache: WatchCache<KubeObject, KubeObject, 'app'>
  readonly #stop = new AbortController()
  #running: Promise<void> | undefined

  constructor(
    server: SimulatedServerOptions = {},
    options: Partial<WatchCacheOptions<KubeObject, KubeObject, 'app'>> = {},
    transport?: Transport,
  ) {
    this.server = new SimulatedServer(server)
    const client = createClientOn(transport ?? this.server, { clock: this.clock, random: () => 0.5 })
    this.cache = new WatchCache(client, pods, {
      clock: this.clock,
      random: () => 0.5,
      indexes: { app: byLabel('app') },
      onFailure: error => void this.failures.push(error),
      ...options,
    })
    this.cache.onChange(change => void this.changes.push(change))
  }

  async start(): Promise<this> {
    this.#running = this.cache.run(this.#stop.signal)
    await this.clock.settle()
    return this
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    await this.#running
  }

  names(): string[] {
    return this.cache
      .list()
      .map(({ metadata }) => metadata.name)
      .sort()
  }

  heard(): string[] {
    return this.changes.splice(0).map(({ type, old, new: now }) => `${type} ${(now ?? old)!.metadata.name}`)
  }

  lists(): number {
    return this.server.requests.filter(({ path }) => !path.includes('watch=') || path.includes('sendInitial'))
      .length
  }
}

describe('a watch cache', () => {
  it('syncs with a streaming list, drops managedFields, and follows changes', async () => {
    const bed = new Bed()
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

  it('lists page by page where the server has no streaming lists, and asks for them once only', async () => {
    const bed = new Bed({ streamingList: false })
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
    it(`goes on from where it was when a watch is cut (${how})`, async () => {
      const bed = await new Bed().start()
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

  it('tells exactly what changed when it has to list again', async () => {
    const bed = new Bed()
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
    it(`keeps what it has and waits longer and longer while the server answers ${code}`, async () => {
      let broken = false
      const bed = new Bed({ watchFault: () => (broken ? failure(code, reason) : undefined) })
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

  it('does not run in circles when a server ends every watch at once', async () => {
    const bed = new Bed({
      watchFault: ({ path }) =>
        path.includes('sendInitial') ? undefined : { status: 200, headers: {}, body: '' },
    })
    await bed.start()
    bed.server.cutWatches('end')
    await bed.clock.advance(10 * 60_000)
    assert.ok(bed.server.requests.length < 50, `${bed.server.requests.length} requests in ten minutes`)
    await bed.stop()
  })

  it('starts anew when the cluster was restored from a backup and its history runs behind', async () => {
    const past = new SimulatedServer()
    past.write('POST', path, pod('old'))
    const present = new SimulatedServer()
    for (let i = 0; i < 20; i++) present.write('POST', path, pod(`p${i}`))
    let current: Transport = present
    const bed = new Bed(
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

  it('tells a late handler of everything that is there, and goes on when one throws', async () => {
    const errors: unknown[] = []
    const bed = new Bed({}, { onHandlerError: error => void errors.push(error) })
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

  it('stops waiting for the first list when told to', async () => {
    const bed = new Bed({ watchFault: () => 'lose request' })
    await bed.start()
    const stop = new AbortController()
    const waiting = bed.cache.waitForSync(stop.signal)
    stop.abort(new Error('no time'))
    await assert.rejects(waiting, /no time/)
    await bed.stop()
  })

  it('equals the server after any mixture of changes, cuts and forgotten history', async () => {
    const step = fc.constantFrom(
      'post',
      'patch',
      'delete',
      'end',
      'break',
      'truncate',
      'compact',
      'bookmark',
      'wait',
    )
    const steps = fc.array(fc.tuple(step, fc.nat(4)), { maxLength: 60, size: 'max' })
    await fc.assert(
      fc.asyncProperty(steps, fc.boolean(), async (steps, streamingList) => {
        const bed = await new Bed({ streamingList }).start()
        for (const [what, number] of steps) {
          const name = `p${number}`
          if (what === 'post') bed.server.write('POST', path, pod(name))
          else if (what === 'patch') bed.server.write('PATCH', `${path}/${name}`, { spec: {} })
          else if (what === 'delete') bed.server.write('DELETE', `${path}/${name}`)
          else if (what === 'compact') bed.server.compact()
          else if (what === 'bookmark') bed.server.bookmark()
          else if (what === 'wait') await bed.clock.advance(number * 50)
          else bed.server.cutWatches(what)
        }
        await bed.clock.advance(120_000)
        const shown = new Map(
          bed.cache.list().map(({ metadata }) => [metadata.name, metadata.resourceVersion]),
        )
        const truth = [...bed.server.objects.values()].map(({ metadata }) => [
          metadata.name,
          metadata.resourceVersion,
        ])
        assert.deepEqual(shown, new Map(truth as [string, string][]))
        const seen = bed.changes.map(
          ({ new: now }) => now && `${now.metadata.uid} ${now.metadata.resourceVersion}`,
        )
        const states = seen.filter(state => state !== undefined)
        assert.equal(new Set(states).size, states.length, 'a state was told twice')
        await bed.stop()
      }),
      { numRuns: 200 },
    )
  })
})
