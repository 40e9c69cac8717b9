// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { FakeClock } from '../clock/index.ts'
import { captureLog } from '../log/index.ts'
import { Controller } from './controller.ts'
import { sourceOf } from './source.ts'

const forever = new AbortController().signal

describe('sourceOf', () => {
  it('maps changes to keys by a function, with priorities if given', async () => {
    const handlers: ((change: { name: string; spec: boolean }) => void)[] = []
    const { log, lines } = captureLog()
    const source = sourceOf(
      (handler: (change: { name: string; spec: boolean }) => void) => {
        handlers.push(handler)
        return () => {}
      },
      change => {
        if (change.name === 'broken') throw new Error('no owner')
        return change.spec
          ? [{ key: change.name, priority: 'user' as const }]
          : [change.name, `${change.name}-sibling`]
      },
      log,
    )
    const controller = new Controller({
      name: 'test',
      clock: new FakeClock(),
      workers: 0,
      reconcile: async () => {},
      sources: [source],
    })
    await controller.start(forever)
    for (const change of [
      { name: 'pod', spec: false },
      { name: 'broken', spec: false },
      { name: 'set', spec: true },
    ])
      handlers[0]!(change)
    assert.deepEqual(
      [
        controller.queue.takeNow(),
        controller.queue.takeNow(),
        controller.queue.takeNow(),
        controller.queue.takeNow(),
      ],
      ['set', 'pod', 'pod-sibling', undefined],
    )
    assert.equal(lines[0]!.message, 'Failed to map a change to keys')
  })
})
