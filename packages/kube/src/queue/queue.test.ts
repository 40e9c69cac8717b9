// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { createRegistry } from '../metrics/index.ts'
import { newQueue, takeAll } from '../testing/test-queue.ts'
import type { Priority } from './fair-order.ts'

describe('WorkQueue', () => {
  it('returns a key once, however often it was added', () => {
    const { queue } = newQueue()
    queue.add('a')
    queue.add('b')
    queue.add('a')
    assert.equal(queue.depth, 2)
    assert.deepEqual(takeAll(queue), ['a', 'b'])
  })

  it('returns a key again, after done, if it was added during processing', () => {
    const { queue } = newQueue()
    queue.add('a')
    assert.equal(queue.takeNow(), 'a')
    queue.add('a')
    queue.add('a')
    assert.equal(queue.takeNow(), undefined)
    queue.done('a')
    assert.equal(queue.takeNow(), 'a')
    queue.done('a')
    assert.equal(queue.takeNow(), undefined)
  })

  it('resumes one waiting worker per key', async () => {
    const { queue } = newQueue()
    const takes = [queue.take(), queue.take(), queue.take()]
    queue.add('a')
    queue.add('b')
    assert.deepEqual(await Promise.all(takes.slice(0, 2)), ['a', 'b'])
    queue.add('a')
    queue.done('a')
    assert.equal(await takes[2], 'a')
  })

  it('rejects done for a key that was not taken', () => {
    const { queue } = newQueue()
    assert.throws(() => queue.done('a'), /done\("a"\) without take/)
  })

  it('never loses an add and never gives a key to two workers, in any order of events', async () => {
    const keys = ['a', 'b', 'c', 'd']
    const step = fc.oneof(
      fc.record({ do: fc.constant('add' as const), key: fc.constantFrom(...keys), user: fc.boolean() }),
      fc.record({ do: fc.constant('after' as const), key: fc.constantFrom(...keys), ms: fc.nat(20) }),
      fc.record({ do: fc.constant('retry' as const), key: fc.constantFrom(...keys) }),
      fc.record({ do: fc.constant('take' as const) }),
      fc.record({ do: fc.constant('done' as const), which: fc.nat(3) }),
      fc.record({ do: fc.constant('advance' as const), ms: fc.nat(20) }),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 80 }), async steps => {
        const { clock, queue } = newQueue({ ownerOf: key => (key < 'c' ? 'one' : 'two') })
        const running: string[] = []
        /** Keys that were added since their last take. */
        const wanted = new Set<string>()
        const took = (key: string | undefined) => {
          if (key === undefined) return
          assert.ok(!running.includes(key), `${key} is with two workers`)
          running.push(key)
          wanted.delete(key)
        }
        for (const event of steps) {
          if (event.do === 'add') {
            queue.add(event.key, event.user ? 'user' : 'background')
            wanted.add(event.key)
          } else if (event.do === 'after') {
            queue.addAfter(event.key, event.ms)
            wanted.add(event.key)
          } else if (event.do === 'retry') {
            queue.retry(event.key)
            wanted.add(event.key)
          } else if (event.do === 'take') took(queue.takeNow())
          else if (event.do === 'advance') await clock.advance(event.ms)
          else if (running.length) queue.done(running.splice(event.which % running.length, 1)[0]!)
        }
        for (let round = 0; round < 20 && (wanted.size || running.length); round++) {
          await clock.advance(60_000)
          for (let key = queue.takeNow(); key !== undefined; key = queue.takeNow()) took(key)
          for (const key of running.splice(0)) queue.done(key)
        }
        assert.deepEqual([...wanted], [])
        assert.equal(queue.running, 0)
        assert.equal(queue.depth, 0)
        assert.equal(queue.delayed, 0)
      }),
      { numRuns: 300 },
    )
  })
})

describe('priorities', () => {
  it('serve user keys before background keys', () => {
    const { queue } = newQueue()
    const order: [string, Priority][] = [
      ['resync', 'background'],
      ['ready', 'normal'],
      ['scaled', 'user'],
    ]
    for (const [key, priority] of order) queue.add(key, priority)
    assert.deepEqual(takeAll(queue), ['scaled', 'ready', 'resync'])
  })

  it('are raised, never lowered, by adding a waiting key again', () => {
    const { queue } = newQueue()
    queue.add('a', 'background')
    queue.add('b', 'background')
    queue.add('b', 'user')
    queue.add('b', 'background')
    assert.deepEqual(takeAll(queue), ['b', 'a'])
  })
})

describe('shutDown', () => {
  it('ends idle workers and waits for the busy ones', async () => {
    const { clock, queue } = newQueue()
    queue.add('a')
    queue.add('b')
    assert.equal(await queue.take(), 'a')
    queue.addAfter('later', 10)
    let drained = false
    const over = queue.shutDown().then(() => {
      drained = true
    })
    assert.equal(await queue.take(), undefined)
    queue.add('c')
    queue.add('a')
    await clock.advance(1_000)
    assert.equal(queue.delayed, 0)
    assert.equal(drained, false)
    queue.done('a')
    await over
    assert.equal(queue.takeNow(), undefined)
  })
})

describe('queue metrics', () => {
  it('have the names and values that dashboards expect', async () => {
    const registry = createRegistry()
    const { clock, queue } = newQueue({ name: 'fleet', registry })
    queue.add('a')
    queue.add('a')
    queue.add('b')
    queue.add('c')
    await clock.advance(2_000)
    queue.takeNow()
    queue.takeNow()
    await clock.advance(3_000)
    queue.retry('a')
    queue.done('b')
    const text = await registry.metrics()
    const labels = '{name="fleet",controller="fleet"}'
    for (const line of [
      `workqueue_depth${labels} 1`,
      `workqueue_adds_total${labels} 4`,
      `workqueue_retries_total${labels} 1`,
      `workqueue_queue_duration_seconds_sum${labels} 4`,
      `workqueue_queue_duration_seconds_count${labels} 2`,
      `workqueue_work_duration_seconds_sum${labels} 3`,
      `workqueue_unfinished_work_seconds${labels} 3`,
      `workqueue_longest_running_processor_seconds${labels} 3`,
    ])
      assert.ok(text.includes(`${line}\n`), line)
  })
})
