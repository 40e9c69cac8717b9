// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { FakeClock } from '../clock/index.ts'
import { captureLog } from '../log/index.ts'
import { createRegistry } from '../metrics/index.ts'
import { Controller, type ControllerOptions, type Enqueue } from './controller.ts'

async function started(
  options: Pick<ControllerOptions<string>, 'reconcile'> & Partial<ControllerOptions<string>>,
) {
  const clock = new FakeClock()
  const { log, lines } = captureLog()
  const registry = createRegistry()
  const controller = new Controller({ name: 'test', clock, log, registry, random: () => 0, ...options })
  const hard = new AbortController()
  await controller.start(hard.signal)
  return { clock, controller, hard, lines, registry }
}

/** A seeded generator, so that a failing run can be repeated. */
function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1664525 + 1013904223) % 2 ** 32
    return state / 2 ** 32
  }
}

describe('Controller', () => {
  it('requeues at the deadline of the last result only', async () => {
    const seen: number[] = []
    const deadlines = [{ requeueAfter: 1_000 }, { requeueAt: 0 }, {}, undefined]
    const { clock, controller } = await started({
      reconcile: async (_, context) => {
        seen.push(context.clock.monotonic())
        const next = deadlines.shift()
        return next && 'requeueAt' in next ? { requeueAt: context.clock.now() + 5_000 } : next
      },
    })
    controller.queue.add('a')
    await clock.advance(500)
    // A change arrives before the first deadline; the result of the second call replaces it.
    controller.queue.add('a')
    await clock.advance(60_000)
    assert.deepEqual(seen, [0, 500, 5_500])
  })

  it('retries a failed key with growing back-off, and resets it after a success', async () => {
    const seen: number[] = []
    let failures = 4
    const { clock, controller } = await started({
      backoff: { baseMs: 10, capMs: 40, jitter: 0 },
      reconcile: async (_, context) => {
        seen.push(context.clock.monotonic())
        if (failures-- > 0) throw new Error('not yet')
      },
    })
    controller.queue.add('a')
    await clock.advance(10_000)
    assert.deepEqual(seen, [0, 10, 30, 70, 110])
    assert.equal(controller.queue.failuresOf('a'), 0)
  })

  it('survives synchronous exceptions and a thrown undefined', async () => {
    let calls = 0
    const { clock, controller } = await started({
      reconcile: () => {
        if (++calls === 1) throw new TypeError('not a function')
        if (calls === 2) throw undefined
        return Promise.resolve()
      },
    })
    controller.queue.add('a')
    await clock.advance(1_000)
    assert.equal(calls, 3)
  })

  it('aborts a call that takes too long, and repeats it', async () => {
    const reasons: string[] = []
    const { clock, controller } = await started({
      timeoutMs: 1_000,
      reconcile: (_, { signal }) =>
        new Promise<void>((_, reject) =>
          signal.addEventListener('abort', () => {
            reasons.push((signal.reason as Error).name)
            reject(signal.reason)
          }),
        ),
    })
    controller.queue.add('a')
    await clock.advance(1_000)
    assert.deepEqual(reasons, ['ReconcileTimeout'])
    await clock.advance(1_100)
    assert.deepEqual(reasons, ['ReconcileTimeout', 'ReconcileTimeout'])
  })

  it('10,000 keys with a handler that throws at random: every key converges, no key runs twice at once', async () => {
    const seed = Number(process.env.SEED ?? 1)
    const random = seeded(seed)
    const wanted = 3
    const steps = new Map<string, number>()
    const inside = new Set<string>()
    let most = 0
    const { clock, controller } = await started({
      workers: 8,
      random,
      log: captureLog().log,
      ownerOf: key => key.split('/')[0]!,
      reconcile: async key => {
        assert.ok(!inside.has(key), `${key} runs twice at once (seed ${seed})`)
        inside.add(key)
        most = Math.max(most, inside.size)
        try {
          await Promise.resolve()
          if (random() < 0.4) throw random() < 0.5 ? new TypeError('bug') : new Error('conflict')
          const step = (steps.get(key) ?? 0) + 1
          steps.set(key, step)
          if (step < wanted) controller.queue.add(key)
        } finally {
          inside.delete(key)
        }
      },
    })
    const keys = Array.from({ length: 10_000 }, (_, i) => `${i % 7 === 0 ? 'huge' : `small-${i % 900}`}/${i}`)
    for (const key of keys) controller.queue.add(key)
    // Forty failures in a row, each waiting for the cap, are less likely than a hardware fault.
    await clock.advance(60 * 60_000)
    const unfinished = keys.filter(key => (steps.get(key) ?? 0) < wanted)
    assert.deepEqual(unfinished, [], `seed ${seed}`)
    assert.equal(most, 8)
    assert.equal(controller.queue.depth + controller.queue.delayed + controller.queue.running, 0)
  })

  it('gives keys of small owners their turn while those of a large owner always fail', async () => {
    const order: string[] = []
    const { clock, controller } = await started({
      workers: 1,
      ownerOf: key => key.split('/')[0]!,
      reconcile: async key => {
        order.push(key)
        if (key.startsWith('huge/')) throw new Error('always')
      },
    })
    for (let i = 0; i < 5_000; i++) controller.queue.add(`huge/${i}`)
    for (let i = 0; i < 10; i++) controller.queue.add(`small-${i}/0`)
    await clock.advance(0)
    const last = Math.max(...Array.from({ length: 10 }, (_, i) => order.indexOf(`small-${i}/0`)))
    assert.ok(last >= 0 && last <= 11, `the last small owner was served at ${last}`)
  })
})

describe('Controller.stop', () => {
  it('starts no further call and waits for the running ones', async () => {
    const finish: (() => void)[] = []
    const { clock, controller } = await started({
      workers: 2,
      reconcile: () => new Promise<void>(resolve => finish.push(resolve)),
    })
    for (const key of ['a', 'b', 'c']) controller.queue.add(key)
    await clock.flushPromises()
    assert.deepEqual(controller.running, ['a', 'b'])
    let stopped = false
    const stop = controller.stop().then(() => {
      stopped = true
    })
    finish[0]!()
    await clock.flushPromises()
    assert.equal(stopped, false)
    finish[1]!()
    await stop
    assert.equal(finish.length, 2)
  })

  it('aborts a call whose worker received its key a moment before', async () => {
    const aborted: boolean[] = []
    const { controller, hard } = await started({
      reconcile: async (_, { signal }) => {
        aborted.push(signal.aborted)
      },
    })
    controller.queue.add('a')
    hard.abort(new Error('leadership lost'))
    await controller.stop()
    assert.deepEqual(aborted, [true])
  })

  it('aborts the calls on the hard signal and does not count that as a failure', async () => {
    const { clock, controller, hard, registry, lines } = await started({
      reconcile: (_, { signal }) =>
        new Promise<void>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    })
    controller.queue.add('a')
    controller.queue.add('b')
    await clock.flushPromises()
    hard.abort(new Error('leadership lost'))
    await controller.stop()
    assert.deepEqual(
      lines.filter(line => line.level === 'error'),
      [],
    )
    assert.match(await registry.metrics(), /controller_runtime_reconcile_errors_total\{controller="test"\} 0/)
  })

  it('unsubscribes from its sources', async () => {
    let enqueue: Enqueue<string> | undefined
    const { controller } = await started({
      reconcile: async () => {},
      sources: [
        given => {
          enqueue = given
          return () => {
            enqueue = undefined
          }
        },
      ],
    })
    assert.ok(enqueue)
    await controller.stop()
    assert.equal(enqueue, undefined)
  })
})

describe('controller metrics', () => {
  it('have the names and values that dashboards expect', async () => {
    const { clock, controller, registry } = await started({
      workers: 3,
      reconcile: async key => {
        if (key === 'bug') throw new TypeError('x is not a function')
        if (key === 'conflict') throw new Error('conflict')
        return key === 'later' ? { requeueAfter: 1e9 } : {}
      },
    })
    for (const key of ['a', 'b', 'later', 'conflict', 'bug']) controller.queue.add(key)
    await clock.advance(0)
    const text = await registry.metrics()
    for (const line of [
      'controller_runtime_reconcile_total{controller="test",result="success"} 2',
      'controller_runtime_reconcile_total{controller="test",result="requeue_after"} 1',
      'controller_runtime_reconcile_total{controller="test",result="error"} 2',
      'controller_runtime_reconcile_errors_total{controller="test"} 2',
      'controller_runtime_terminal_reconcile_errors_total{controller="test"} 0',
      'controller_runtime_reconcile_panics_total{controller="test"} 1',
      'controller_runtime_reconcile_time_seconds_count{controller="test"} 5',
      'controller_runtime_active_workers{controller="test"} 0',
      'controller_runtime_max_concurrent_reconciles{controller="test"} 3',
    ])
      assert.ok(text.includes(`${line}\n`), line)
  })
})
