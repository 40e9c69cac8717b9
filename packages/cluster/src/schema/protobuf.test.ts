// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { decodeMessage, openEnvelope, ProtobufError } from './protobuf.ts'
import { structType } from './type-table.ts'

const varint = (value: number): number[] =>
  value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...varint(value >>> 7)]
const bytes = (number: number, content: Uint8Array | string): Buffer => {
  const data = Buffer.from(content)
  return Buffer.concat([Buffer.from([...varint((number << 3) | 2), ...varint(data.length)]), data])
}
const number = (field: number, value: number) => Buffer.from([...varint(field << 3), ...varint(value)])
const message = (...parts: Buffer[]) => Buffer.concat(parts)

describe('protobuf', () => {
  it('decodes the envelope of an object', () => {
    const envelope = message(
      Buffer.from('k8s\0'),
      bytes(1, message(bytes(1, 'v1'), bytes(2, 'Pod'))),
      bytes(2, 'raw'),
    )
    const { apiVersion, kind, raw } = openEnvelope(envelope)
    assert.deepEqual([apiVersion, kind, Buffer.from(raw).toString()], ['v1', 'Pod', 'raw'])
  })

  it('decodes strings, numbers, lists, maps, quantities and ports', () => {
    const resources = bytes(8, bytes(1, message(bytes(1, 'cpu'), bytes(2, bytes(1, '500m')))))
    const probe = bytes(
      10,
      message(bytes(1, bytes(2, bytes(2, message(number(1, 1), bytes(3, 'http'))))), number(2, 5)),
    )
    const container = message(
      bytes(1, 'main'),
      bytes(2, 'image'),
      bytes(3, 'a'),
      bytes(3, 'b'),
      resources,
      probe,
    )
    const metadata = bytes(1, message(bytes(1, 'p'), bytes(11, message(bytes(1, 'k'), bytes(2, 'v')))))
    const pod = message(metadata, bytes(2, message(bytes(2, container), number(4, 300))))
    assert.deepEqual(decodeMessage(structType('core/v1.Pod'), pod), {
      metadata: { name: 'p', labels: { k: 'v' } },
      spec: {
        containers: [
          {
            name: 'main',
            image: 'image',
            command: ['a', 'b'],
            resources: { limits: { cpu: '500m' } },
            livenessProbe: { httpGet: { port: 'http' }, initialDelaySeconds: 5 },
          },
        ],
        terminationGracePeriodSeconds: 300,
      },
    })
  })

  it('rejects a truncated message', () => {
    const whole = message(bytes(1, 'abc'))
    assert.throws(() => decodeMessage(structType('core/v1.Container'), whole.subarray(0, 3)), ProtobufError)
    assert.throws(() => openEnvelope(Buffer.from('not k8s')), ProtobufError)
  })
})
