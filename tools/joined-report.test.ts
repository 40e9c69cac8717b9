// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventsOf, type TestEvent } from './joined-report.ts'

const told = (message: string, nesting = 0): TestEvent => ({
  type: 'test:diagnostic',
  data: { nesting, message },
})
const passed: TestEvent = { type: 'test:pass', data: { nesting: 0 } }

async function* run(...events: TestEvent[]): AsyncGenerator<TestEvent> {
  yield* events
}

test('two runs are told as one, with the counts of both at the end', async () => {
  const first = run(passed, told('tests 3', 1), told('tests 7'), told('fail 1'), told('duration_ms 10.5'))
  const second = run(passed, told('tests 2'), told('fail 0'), told('duration_ms 2'), told('a remark'))
  assert.deepEqual(await Array.fromAsync(eventsOf([first, second])), [
    passed,
    told('tests 3', 1),
    passed,
    told('a remark'),
    told('tests 9'),
    told('fail 1'),
    told('duration_ms 12.5'),
  ])
})
