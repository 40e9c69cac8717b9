// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { IndexedHeap } from './heap.ts'

describe('IndexedHeap', () => {
  it('always returns the key of the lowest rank', () => {
    const step = fc.record({ key: fc.nat(15), rank: fc.option(fc.nat(1_000)) })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 300 }), steps => {
        const heap = new IndexedHeap<number>()
        const model = new Map<number, number>()
        for (const { key, rank } of steps) {
          if (rank === null) assert.equal(heap.delete(key), model.delete(key))
          else {
            heap.set(key, rank)
            model.set(key, rank)
          }
          assert.equal(heap.size, model.size)
          assert.equal(heap.rankOf(key), model.get(key))
          assert.equal(heap.peek()?.rank, model.size ? Math.min(...model.values()) : undefined)
        }
      }),
    )
  })
})
