// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Correlation, rememberedEvents, type Series } from './correlation.ts'

const subject = (name: string) => ({ apiVersion: 'v1', kind: 'Pod', namespace: 'default', name })
const failed = (message: string) => ({ type: 'Warning' as const, reason: 'Failed', message })

function harness() {
  const correlation = new Correlation<Series>(series => series)
  const add = (name: string, message = 'failed', now = 0) =>
    correlation.add('operator', subject(name), failed(message), now)
  return { correlation, add }
}

test('remembers a bounded number of events, however many messages the objects have', () => {
  const { correlation, add } = harness()
  for (let pod = 0; pod < rememberedEvents; pod++)
    for (let message = 0; message < 12; message++) add(`p${pod}`, `message ${message}`)
  assert.ok(correlation.size <= rememberedEvents, `${correlation.size} events`)
  assert.equal(add(`p${rememberedEvents - 1}`, 'message 0').count, 2, 'the latest is remembered')
  assert.equal(add('p0', 'message 0').count, 1, 'the oldest is dropped')
})

test('drops the events of objects that had none for ten minutes', () => {
  const { correlation, add } = harness()
  for (let pod = 0; pod < 100; pod++) add(`p${pod}`, 'failed', pod)
  add('other', 'failed', 600_050)
  assert.equal(correlation.size, 51)
  assert.equal(add('p99', 'failed', 600_050).count, 2)
})

test('counts the remembered events also if a reason starts over', () => {
  const { correlation, add } = harness()
  for (let message = 0; message < 12; message++) add('p', `message ${message}`)
  assert.equal(correlation.size, 11, 'ten messages and the combined event')
  add('p', 'message 0', 600_001)
  assert.equal(correlation.size, 1)
})
