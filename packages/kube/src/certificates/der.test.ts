// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { der, readDer } from './der.ts'

const hex = (bytes: Buffer, length = bytes.length) => bytes.subarray(0, length).toString('hex')

describe('DER', () => {
  it('reads back its own output for any lengths', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 700 }), { maxLength: 5 }), parts => {
        const [sequence, ...rest] = readDer(der.sequence(...parts.map(part => der.octetString(part))))
        assert.equal(rest.length, 0)
        assert.deepEqual(
          readDer(sequence!.content).map(({ content }) => new Uint8Array(content)),
          parts,
        )
      }),
    )
  })

  it('writes lengths in the shortest form', () => {
    assert.equal(hex(der.octetString(Buffer.alloc(127)), 2), '047f')
    assert.equal(hex(der.octetString(Buffer.alloc(128)), 3), '048180')
    assert.equal(hex(der.octetString(Buffer.alloc(300)), 4), '0482012c')
  })

  it('rejects lengths that exceed the input', () => {
    assert.throws(() => readDer(Buffer.from('300501', 'hex')), RangeError)
  })

  it('encodes integers, object identifiers and times', () => {
    assert.equal(hex(der.integer(Buffer.from([0]))), '020100')
    assert.equal(hex(der.integer(Buffer.from([0, 0]))), '020100')
    assert.equal(hex(der.integer(Buffer.from([0, 0x7f]))), '02017f')
    assert.equal(hex(der.integer(Buffer.from([0, 0, 0x80]))), '02020080')
    assert.equal(hex(der.oid('1.2.840.10045.4.3.2')), '06082a8648ce3d040302')
    assert.equal(hex(der.oid('1.2.840.113549.1.1.11')), '06092a864886f70d01010b')
    const time = (text: string) => der.time(Date.parse(text)).toString('latin1').slice(2)
    assert.equal(time('2049-12-31T23:59:59Z'), '491231235959Z')
    assert.equal(time('2050-01-01T00:00:00Z'), '20500101000000Z')
  })
})
