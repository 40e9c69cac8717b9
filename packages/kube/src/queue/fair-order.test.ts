// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { FairOrder, type Priority, priorities, type Waiting } from './fair-order.ts'

interface Numbered extends Waiting {
  readonly number: number
}

describe('fairness between owners', () => {
  it('serves every waiting owner before any owner is two turns ahead of it', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 8 }), sizes => {
        const order = new FairOrder<Waiting>()
        // The largest owners come first: the worst case for the small ones.
        const sorted = [...sizes].sort((a, b) => b - a)
        sorted.forEach((size, owner) => {
          for (let i = 0; i < size; i++) order.push({ owner: String(owner), priority: 'normal' })
        })
        const turns = sorted.map(() => 0)
        for (let item = order.pop(); item; item = order.pop()) {
          turns[Number(item.owner)]!++
          const waiting = turns.filter((count, owner) => count < sorted[owner]!)
          assert.ok(Math.max(...turns) - Math.min(...waiting, Math.max(...turns)) <= 1, String(turns))
        }
        assert.deepEqual(turns, sorted)
      }),
    )
  })

  it('lets a new owner wait for at most one turn of each other owner', () => {
    const order = new FairOrder<Waiting>()
    for (let owner = 0; owner < 10; owner++)
      for (let i = 0; i < 1_000; i++) order.push({ owner: `large-${owner}`, priority: 'normal' })
    for (let i = 0; i < 37; i++) order.pop()
    order.push({ owner: 'small', priority: 'normal' })
    const before = []
    for (let item = order.pop()!; item.owner !== 'small'; item = order.pop()!) before.push(item.owner)
    assert.equal(before.length, 10)
  })
})

describe('priorities', () => {
  it('save no turns while they have no waiting keys', () => {
    const order = new FairOrder<Waiting>()
    for (let i = 0; i < 1_000; i++) order.push({ owner: '', priority: 'user' })
    for (let i = 0; i < 900; i++) order.pop()
    for (let i = 0; i < 100; i++) order.push({ owner: '', priority: 'background' })
    const turns = Array.from({ length: 17 }, () => order.pop()!.priority)
    assert.equal(turns.filter(priority => priority === 'background').length, 1, String(turns))
  })

  it('share the turns 16 : 4 : 1 while all have waiting keys', () => {
    const order = new FairOrder<Waiting>()
    const turns: Record<Priority, number> = { user: 0, normal: 0, background: 0 }
    for (const priority of priorities) for (let i = 0; i < 1_000; i++) order.push({ owner: '', priority })
    for (let i = 0; i < 210; i++) turns[order.pop()!.priority]++
    assert.deepEqual(turns, { user: 160, normal: 40, background: 10 })
  })

  it('never starve a key: it waits for a bounded number of turns under any load', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom<Priority>('user', 'normal'), { minLength: 1, maxLength: 5 }),
        burst => {
          const order = new FairOrder<Waiting>()
          for (let i = 0; i < 20; i++) order.push({ owner: 'busy', priority: 'user' })
          order.push({ owner: 'quiet', priority: 'background' })
          for (let turn = 1; ; turn++) {
            for (const priority of burst) order.push({ owner: 'busy', priority })
            if (order.pop()!.owner === 'quiet') return
            assert.ok(turn <= 21, 'the background key waits for more than one round of shares')
          }
        },
      ),
    )
  })

  it('keep the order of arrival among equals, also after random raising', () => {
    const step = fc.oneof(
      fc.record({ push: fc.constantFrom(...priorities), owner: fc.constantFrom('a', 'b', 'c') }),
      fc.record({ raise: fc.nat(20), to: fc.constantFrom(...priorities) }),
      fc.constant('pop' as const),
    )
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), steps => {
        const order = new FairOrder<Numbered>()
        const waiting: Numbered[] = []
        let number = 0
        for (const event of steps) {
          if (event === 'pop') {
            const item = order.pop()
            assert.equal(item === undefined, waiting.length === 0)
            if (!item) continue
            waiting.splice(waiting.indexOf(item), 1)
          } else if ('push' in event) {
            const item = { owner: event.owner, priority: event.push, number: number++ }
            waiting.push(item)
            order.push(item)
          } else if (waiting.length) order.raise(waiting[event.raise % waiting.length]!, event.to)
          assert.equal(order.size, waiting.length)
        }
        const left = new Set<Numbered>()
        for (let item = order.pop(); item; item = order.pop()) left.add(item)
        assert.deepEqual(left, new Set(waiting))
      }),
    )
  })
})
