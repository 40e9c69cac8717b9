// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventsOf, type TestEvent } from './joined-report.ts'

const diagnostic = (message: string, nesting = 0): TestEvent => ({
  type: 'test:diagnostic',
  data: { nesting, message },
})
const passed: TestEvent = { type: 'test:pass', data: { nesting: 0 } }

async function* run(...events: TestEvent[]): AsyncGenerator<TestEvent> {
  yield* events
}

test('reports two runs as one, with the sum of their counts at the end', async () => {
  const first = run(
    passed,
    diagnostic('tests 3', 1),
    diagnostic('tests 7'),
    diagnostic('fail 1'),
    diagnostic('duration_ms 10.5'),
  )
  const second = run(
    passed,
    diagnostic('tests 2'),
    diagnostic('fail 0'),
    diagnostic('duration_ms 2'),
    diagnostic('a remark'),
  )
  assert.deepEqual(await Array.fromAsync(eventsOf([first, second])), [
    passed,
    diagnostic('tests 3', 1),
    passed,
    diagnostic('a remark'),
    diagnostic('tests 9'),
    diagnostic('fail 1'),
    diagnostic('duration_ms 12.5'),
  ])
})
