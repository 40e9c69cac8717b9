// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { LineSplitter } from './line-splitter.ts'

/** Cuts the bytes at these places, which may fall inside a character. */
function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const sorted = [...new Set(places.map(place => place % (bytes.length + 1)))].sort((a, b) => a - b)
  return [...sorted, bytes.length].map((end, index) => bytes.subarray(sorted[index - 1] ?? 0, end))
}

describe('LineSplitter', () => {
  it('finds the same lines for any chunks', () => {
    const line = fc.string({ unit: 'grapheme', minLength: 1 }).filter(text => !text.includes('\n'))
    fc.assert(
      fc.property(fc.array(line), fc.array(fc.nat()), (lines, places) => {
        const splitter = new LineSplitter(1_000_000)
        const found: string[] = []
        const bytes = Buffer.from(lines.map(each => `${each}\n`).join(''))
        for (const chunk of cut(bytes, places)) splitter.push(chunk, each => found.push(each.toString()))
        assert.deepEqual(found, lines)
        assert.equal(splitter.pendingBytes, 0)
      }),
    )
  })

  it('keeps an incomplete line', () => {
    const splitter = new LineSplitter(100)
    const found: string[] = []
    splitter.push(Buffer.from('one\n\ntw'), each => found.push(each.toString()))
    assert.deepEqual(found, ['one'])
    assert.equal(splitter.pendingBytes, 2)
    splitter.push(new Uint8Array([0x6f, 0x0a]), each => found.push(each.toString()))
    assert.deepEqual(found, ['one', 'two'])
  })

  it('rejects a line beyond the limit, complete or not', () => {
    assert.throws(() => new LineSplitter(3).push(Buffer.from('four'), () => {}), /more than 3 bytes/)
    assert.throws(() => new LineSplitter(3).push(Buffer.from('four\n'), () => {}), /more than 3 bytes/)
    const splitter = new LineSplitter(3)
    splitter.push(Buffer.from('ab'), () => {})
    assert.throws(() => splitter.push(Buffer.from('cd\n'), () => {}), /more than 3 bytes/)
  })
})
