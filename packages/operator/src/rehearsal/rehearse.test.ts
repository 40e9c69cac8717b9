// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { defaultConfiguration } from '@grove/api'
import { createClientOn, isNotFound, systemClock } from '@grove/kube'
import { resources } from '../resources.ts'
import { rehearse } from './rehearse.ts'
import { Stage } from './stage.ts'

describe('the rehearsal', () => {
  test('brings every set to life and ends by itself', async () => {
    const patience = AbortSignal.timeout(20_000)
    assert.equal(await rehearse(defaultConfiguration(), systemClock, patience), 8)
    assert.equal(patience.aborted, false)
  })

  test('ends when it is told to', async () => {
    const abort = new AbortController()
    const running = rehearse(defaultConfiguration(), systemClock, abort.signal)
    abort.abort()
    await assert.rejects(running, { name: 'AbortError' })
  })
})

describe('the stage', () => {
  test('keeps what it is given and lets pods without gates become ready', async () => {
    const ready: string[] = []
    const client = createClientOn(new Stage(pod => ready.push(pod.metadata.name)))
    const pod = {
      metadata: { name: 'p', namespace: 'n' },
      spec: { containers: [], schedulingGates: [{ name: 'a' }] },
    }
    const created = await client.create(resources.pods, pod as never)
    assert.deepEqual([created.status, ready], [undefined, []])
    await client.patch(
      resources.pods,
      { namespace: 'n', name: 'p' },
      { strategic: { spec: { schedulingGates: [{ name: 'a', $patch: 'delete' }] } } },
    )
    const found = await client.get(resources.pods, { namespace: 'n', name: 'p' })
    assert.deepEqual(
      [found.status?.phase, found.metadata.uid, ready],
      ['Running', created.metadata.uid, ['p']],
    )
    await client.delete(resources.pods, { namespace: 'n', name: 'p' })
    await assert.rejects(client.get(resources.pods, { namespace: 'n', name: 'p' }), isNotFound)
  })
})
