// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { KubeError, type KubeErrorCode } from '../client/error.ts'
import type { StoredEvent } from './event.ts'
import { eventSink } from './sink.ts'

describe('eventSink', () => {
  const sinkThatFails = (code: KubeErrorCode) => {
    const fail = () => Promise.reject(new KubeError({ code, message: code }))
    return eventSink({ create: fail, patch: fail })
  }
  const event: StoredEvent = { metadata: { name: 'a', namespace: 'b' } }
  const { signal } = new AbortController()

  it('distinguishes permanent rejections from temporary failures', async () => {
    assert.equal(await sinkThatFails('Forbidden').create(event, signal), 'rejected')
    assert.equal(await sinkThatFails('AlreadyExists').create(event, signal), 'written')
    assert.equal(await sinkThatFails('NotFound').patch(event, {}, signal), 'gone')
    assert.equal(await sinkThatFails('Invalid').patch(event, {}, signal), 'rejected')
    for (const code of ['Network', 'Timeout', 'TooManyRequests', 'ServiceUnavailable'] as const)
      await assert.rejects(sinkThatFails(code).create(event, signal))
  })
})
