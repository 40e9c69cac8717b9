// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { priorities, type Waiting } from './fair-order.ts'
import { OwnerTurns } from './owner-turns.ts'

interface Numbered extends Waiting {
  readonly number: number
}

const item = fc.record({
  owner: fc.constantFrom('a', 'b', 'c'),
  priority: fc.constantFrom(...priorities),
  stays: fc.boolean(),
})

describe('OwnerTurns', () => {
  it('serves every owner once before any twice, regardless of priority, and loses and duplicates no item', () => {
    fc.assert(
      fc.property(fc.array(item, { maxLength: 40 }), wanted => {
        const turns = new OwnerTurns<Numbered>()
        const items = wanted.map(({ owner, priority }, number): Numbered => ({ owner, priority, number }))
        for (const each of items) turns.push(each)
        const staying = items.filter((_, index) => wanted[index]!.stays)
        for (const each of items) if (!staying.includes(each)) turns.remove(each)
        assert.equal(turns.size, staying.length)
        const left = new Map<string, number>()
        for (const { owner } of staying) left.set(owner, (left.get(owner) ?? 0) + 1)
        const popped: Numbered[] = []
        while (turns.size > 0) {
          // A round: every owner with waiting items, once.
          const round = Array.from({ length: left.size }, () => turns.pop()!)
          assert.deepEqual(round.map(({ owner }) => owner).sort(), [...left.keys()].sort())
          for (const { owner } of round) {
            if (left.get(owner) === 1) left.delete(owner)
            else left.set(owner, left.get(owner)! - 1)
          }
          popped.push(...round)
        }
        assert.equal(turns.pop(), undefined)
        const numbers = (some: readonly Numbered[]) => some.map(({ number }) => number).sort((a, b) => a - b)
        assert.deepEqual(numbers(popped), numbers(staying))
      }),
    )
  })
})
