// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encodeDocument2 } from './protobuf.ts'

/** Returns the field numbers of a message and the bytes of each field. */
function fields(bytes: Uint8Array): { readonly field: number; readonly bytes: Uint8Array }[] {
  let at = 0
  const varint = () => {
    let value = 0
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++]!
      value += (byte & 127) * 2 ** shift
      if (byte < 128) return value
    }
  }
  const found = []
  while (at < bytes.length) {
    const tag = varint()
    assert.equal(tag % 8, 2, 'length-delimited')
    const length = varint()
    found.push({ field: Math.floor(tag / 8), bytes: bytes.subarray(at, at + length) })
    at += length
  }
  return found
}

const text = (bytes: Uint8Array | undefined) => Buffer.from(bytes ?? []).toString()
const only = (bytes: Uint8Array, field: number) => fields(bytes).filter(each => each.field === field)

test('encodes names, types, items, references and extensions with the field numbers of Go clients', () => {
  const longName = 'x'.repeat(300)
  const document = encodeDocument2({
    swagger: '2.0',
    info: { title: 'Kubernetes', version: 'v1' },
    definitions: {
      [longName]: {
        type: 'object',
        required: ['a'],
        properties: {
          a: { type: 'array', items: { $ref: '#/definitions/b' }, description: 'text' },
          m: { type: 'object', additionalProperties: { type: 'string', format: 'byte' } },
        },
        'x-kubernetes-group-version-kind': [{ kind: 'A' }],
      },
    },
  })
  assert.deepEqual(
    fields(document).map(({ field }) => field),
    [1, 2, 8, 9],
  )
  const [entry] = fields(only(document, 9)[0]!.bytes)
  const [name, value] = fields(entry!.bytes)
  assert.equal(text(name!.bytes), longName)
  const schema = value!.bytes
  assert.equal(text(only(schema, 19)[0]!.bytes), 'a')
  assert.equal(text(fields(only(schema, 22)[0]!.bytes)[0]!.bytes), 'object')
  const [a, m] = fields(only(schema, 25)[0]!.bytes).map(({ bytes }) => fields(bytes)[1]!.bytes)
  assert.equal(text(only(a!, 4)[0]!.bytes), 'text')
  assert.equal(text(only(fields(only(a!, 23)[0]!.bytes)[0]!.bytes, 1)[0]!.bytes), '#/definitions/b')
  assert.equal(text(only(fields(only(m!, 21)[0]!.bytes)[0]!.bytes, 2)[0]!.bytes), 'byte')
  const [key, any] = fields(only(schema, 31)[0]!.bytes)
  assert.equal(text(key!.bytes), 'x-kubernetes-group-version-kind')
  assert.equal(text(only(any!.bytes, 2)[0]!.bytes), '[{"kind":"A"}]')
})
