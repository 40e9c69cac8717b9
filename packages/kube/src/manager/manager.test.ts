// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { FakeClock } from '../clock/index.ts'
import { Controller } from '../controller/index.ts'
import { type LeaseClient, LeaseElector } from '../lease/index.ts'
import { captureLog } from '../log/index.ts'
import { Manager, type ManagerOptions } from './manager.ts'
import { type SignalledProcess, stopSignal } from './signals.ts'

/** A lease without competition, or one that another process holds. */
function leaseHeldBy(holder?: string) {
  let lease: Awaited<ReturnType<LeaseClient['read']>> =
    holder === undefined ? undefined : { spec: { holderIdentity: holder, leaseDurationSeconds: 15 } }
  let version = 0
  let works = true
  const store: LeaseClient['update'] = async next => {
    if (!works) throw new Error('cut off')
    lease = { ...next, metadata: { ...next.metadata, resourceVersion: String(++version) } }
    return lease
  }
  const client: LeaseClient = { read: async () => lease, create: store, update: store }
  return {
    client,
    get holder() {
      return lease?.spec?.holderIdentity
    },
    cut: () => {
      works = false
      client.read = async () => {
        throw new Error('cut off')
      }
    },
  }
}

function setUp(options: Partial<ManagerOptions> & { lease?: ReturnType<typeof leaseHeldBy> } = {}) {
  const clock = new FakeClock()
  const { log, lines } = captureLog()
  const happened: string[] = []
  const election =
    options.lease &&
    new LeaseElector({
      namespace: 'a',
      name: 'b',
      client: options.lease.client,
      clock,
      identity: 'me',
      random: () => 0,
    })
  const manager = new Manager({ clock, log, ...(election && { election }), ...options })
  const part = (name: string) => ({
    start: async () => {
      happened.push(`${name} starts`)
    },
    stop: async () => {
      happened.push(`${name} stops`)
    },
  })
  const cache = (name: string, synced: Promise<void> = Promise.resolve()) => ({
    run: async (signal: AbortSignal) => {
      happened.push(`${name} runs`)
      await new Promise<void>(resolve => signal.addEventListener('abort', () => resolve()))
      happened.push(`${name} ends`)
    },
    waitForSync: async () => {
      await synced
      happened.push(`${name} synced`)
    },
  })
  const stop = new AbortController()
  return { clock, manager, happened, part, cache, stop, lines }
}

describe('Manager', () => {
  it('starts caches, webhooks, election and controllers in this order and stops them in reverse', async () => {
    const lease = leaseHeldBy()
    const { clock, manager, happened, part, cache, stop } = setUp({ lease })
    manager.addController('controller', part('controller'))
    manager.addServer('webhooks', part('webhooks'))
    manager.addCache('cache', cache('cache'))
    manager.addLastStep('events', async () => {
      happened.push(`events written, lease of "${lease.holder}"`)
    })
    const running = manager.run(stop.signal)
    await clock.flushPromises()
    assert.equal(manager.leadership.isHeld(), true)
    stop.abort()
    await running
    assert.deepEqual(happened, [
      'cache runs',
      'cache synced',
      'webhooks starts',
      'controller starts',
      'controller stops',
      'events written, lease of ""',
      'webhooks stops',
      'cache ends',
    ])
    assert.equal(clock.pendingTimers, 0)
  })

  it('hands over the lease at a signal, and stops servers only after their drain time', async () => {
    const lease = leaseHeldBy()
    const { clock, manager, happened, part, cache, stop } = setUp({ lease, serverDrainMs: 3_000 })
    manager.addController('controller', part('controller'))
    manager.addServer('webhooks', {
      ...part('webhooks'),
      drain: () => void happened.push('webhooks drain'),
    })
    manager.addCache('cache', cache('cache'))
    const running = manager.run(stop.signal)
    await clock.flushPromises()
    happened.splice(0)
    stop.abort()
    await clock.advance(2_900)
    assert.equal(lease.holder, '')
    assert.deepEqual(happened, ['webhooks drain', 'controller stops'])
    await clock.advance(100)
    await running
    assert.deepEqual(happened, ['webhooks drain', 'controller stops', 'webhooks stops', 'cache ends'])
    assert.equal(clock.pendingTimers, 0)
  })

  it('does not drain servers when a component fails', async () => {
    const { clock, manager, happened, part, stop } = setUp({ serverDrainMs: 3_000 })
    manager.addServer('webhooks', part('webhooks'))
    const failing = Promise.withResolvers<void>()
    manager.addBackground('failing', { run: () => failing.promise })
    const running = manager.run(stop.signal)
    await clock.flushPromises()
    failing.reject(new Error('broken'))
    await assert.rejects(running, /broken/)
    assert.deepEqual(happened, ['webhooks starts', 'webhooks stops'])
  })

  it('starts readers of caches only after all caches are synced', async () => {
    const synced = Promise.withResolvers<void>()
    const { clock, manager, happened, part, cache, stop } = setUp()
    manager.addController('controller', part('controller'))
    manager.addCache('quick', cache('quick'))
    manager.addCache('slow', cache('slow', synced.promise))
    const running = manager.run(stop.signal)
    await clock.flushPromises()
    assert.ok(!happened.includes('controller starts'))
    synced.resolve()
    await clock.flushPromises()
    assert.ok(happened.includes('controller starts'))
    stop.abort()
    await running
  })

  it('runs controllers while webhooks still wait for their certificate', async () => {
    const { clock, manager, happened, part, stop } = setUp()
    manager.addServer('webhooks', { start: () => new Promise(() => {}), stop: async () => {} })
    manager.addController('controller', part('controller'))
    const running = manager.run(stop.signal)
    await clock.flushPromises()
    assert.deepEqual(happened, ['controller starts'])
    stop.abort()
    await clock.advance(60_000)
    await running
  })

  it('serves webhooks without leading, and runs no controller', async () => {
    const { clock, manager, happened, part, stop } = setUp({ lease: leaseHeldBy('other') })
    manager.addServer('webhooks', part('webhooks'))
    manager.addController('controller', part('controller'))
    const running = manager.run(stop.signal)
    await clock.advance(10_000)
    assert.deepEqual(happened, ['webhooks starts'])
    stop.abort()
    await running
    assert.deepEqual(happened, ['webhooks starts', 'controller stops', 'webhooks stops'])
  })

  it('aborts reconciles at once and fails when leadership is lost', async () => {
    const lease = leaseHeldBy()
    const { clock, manager, stop } = setUp({ lease })
    const reasons: unknown[] = []
    const controller = new Controller({
      name: 'controller',
      clock,
      reconcile: (_, { signal }) =>
        new Promise<void>((_, reject) =>
          signal.addEventListener('abort', () => {
            reasons.push(manager.leadership.isHeld())
            reject(signal.reason)
          }),
        ),
    })
    manager.addController('controller', controller)
    const running = manager.run(stop.signal)
    running.catch(() => {})
    await clock.flushPromises()
    controller.queue.add('key')
    lease.cut()
    await clock.advance(10_000)
    await assert.rejects(running, { name: 'LeadershipLost', message: /not renewed within 10000 ms/ })
    assert.deepEqual(reasons, [false])
    assert.equal(lease.holder, 'me', 'a lease that another process may hold is not released')
  })

  it('waits for reconciles before it hands the lease over', async () => {
    const lease = leaseHeldBy()
    const { clock, manager, stop } = setUp({ lease })
    const finish = Promise.withResolvers<void>()
    let holderAtEnd: string | undefined
    const controller = new Controller({
      name: 'controller',
      clock,
      reconcile: async () => {
        await finish.promise
        holderAtEnd = lease.holder
      },
    })
    manager.addController('controller', controller)
    const running = manager.run(stop.signal)
    await clock.flushPromises()
    controller.queue.add('key')
    await clock.flushPromises()
    stop.abort()
    await clock.advance(3_000)
    finish.resolve()
    await running
    assert.equal(holderAtEnd, 'me')
    assert.equal(lease.holder, '')
  })

  it('stops in bounded time if a reconcile ignores its signal, and then keeps the lease', async () => {
    const lease = leaseHeldBy()
    const { clock, manager, stop } = setUp({ lease })
    const controller = new Controller({
      name: 'controller',
      clock,
      reconcile: () => new Promise<void>(() => {}),
    })
    manager.addController('controller', controller)
    manager.addServer('stuck', { start: async () => {}, stop: () => new Promise(() => {}) })
    const running = manager.run(stop.signal)
    await clock.flushPromises()
    controller.queue.add('key')
    await clock.flushPromises()
    stop.abort()
    await clock.advance(60_000)
    await running
    assert.equal(lease.holder, 'me')
  })

  it('stops everything and fails when one part fails', async () => {
    const { clock, manager, happened, part, stop, lines } = setUp({ lease: leaseHeldBy('other') })
    manager.addController('controller', part('controller'))
    manager.addServer('webhooks', {
      start: () => Promise.reject(new Error('EADDRINUSE')),
      stop: async () => {
        happened.push('webhooks stops')
      },
    })
    await assert.rejects(manager.run(stop.signal), /EADDRINUSE/)
    await clock.advance(60_000)
    assert.deepEqual(happened, ['controller stops', 'webhooks stops'], 'nothing starts after the stop')
    assert.ok(lines.some(line => line.fields.part === 'webhooks'))
  })

  it('can be stopped before it has started', async () => {
    const { manager, happened, part, cache, stop } = setUp()
    manager.addCache('cache', cache('cache'))
    manager.addController('controller', part('controller'))
    stop.abort(new Error('stopped'))
    await manager.run(stop.signal)
    assert.ok(!happened.includes('controller starts'))
  })

  it('rejects two components of the same name', () => {
    const { manager, part } = setUp()
    manager.addServer('a', part('a'))
    assert.throws(() => manager.addServer('a', part('a')), /a component named a is already registered/)
  })
})

describe('stopSignal', () => {
  it('stops at the first signal, exits with 1 at the second', () => {
    const listeners: Record<string, () => void> = {}
    const exits: number[] = []
    const fake: SignalledProcess = {
      on: (signal, listener) => {
        listeners[signal] = listener
      },
      exit: code => exits.push(code),
    }
    const signal = stopSignal(undefined, fake)
    assert.equal(signal.aborted, false)
    listeners.SIGTERM!()
    assert.equal(signal.aborted, true)
    assert.deepEqual(exits, [])
    listeners.SIGINT!()
    assert.deepEqual(exits, [1])
  })

  it('counts a signal of the terminal that npm forwards as one', async () => {
    const listeners: Record<string, () => void> = {}
    const exits: number[] = []
    const fake: SignalledProcess = {
      on: (name, listener) => {
        listeners[name] = listener
      },
      exit: code => exits.push(code),
    }
    const clock = new FakeClock()
    const signal = stopSignal(undefined, fake, clock)
    listeners.SIGINT!()
    await clock.advance(500)
    listeners.SIGINT!()
    assert.ok(signal.aborted)
    assert.deepEqual(exits, [])
    await clock.advance(500)
    listeners.SIGINT!()
    assert.deepEqual(exits, [1])
  })
})
