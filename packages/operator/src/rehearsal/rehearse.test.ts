// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { defaultConfiguration, scheduler } from '@grove/api'
import { createClientOn, FakeClock, isNotFound, systemClock } from '@grove/kube'
import { resources } from '../caches/resources.ts'
import { rehearse, rounds } from './rehearse.ts'
import { Stage } from './stage.ts'

describe('the rehearsal', () => {
  for (const name of [scheduler.default, scheduler.kai, scheduler.volcano])
    test(`brings every set to life with ${name}, and ends by itself`, async () => {
      const configuration = defaultConfiguration()
      const profiles = [...new Set([scheduler.default, name])].map(each => ({ name: each }))
      const told = { ...configuration, scheduler: { defaultProfileName: name, profiles } }
      assert.equal(await rehearse(told, systemClock, AbortSignal.timeout(20_000)), rounds)
    })

  test('gives up what does not come about', async () => {
    const clock = new FakeClock()
    const unknown = { defaultProfileName: scheduler.default, profiles: [] }
    const running = rehearse(
      { ...defaultConfiguration(), scheduler: unknown },
      clock,
      new AbortController().signal,
    )
    let done: number | undefined
    void running.then(count => {
      done = count
    })
    for (let turn = 0; turn < 1_000 && done === undefined; turn++) {
      await clock.advance(100)
      await nextTurn()
    }
    assert.equal(done, 0)
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
