// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { repository } from './repository.fixture.ts'
import { checkTimings } from './timings.ts'

const files = { 'packages/a': 'packages/a/src/timings.ts' }
const check = (content: Record<string, string>) => checkTimings(repository(content), files)

for (const line of [
  'const delayMs = 1_000',
  'const pollMs: number = 250',
  'const perChildMs = 0.2',
  'return { timeoutSeconds: 10 }',
  'return { requeueAfter: 5 }',
  'setTimeout(() => stop(), 500)',
  'const signal = AbortSignal.timeout(2_000)',
])
  test(`forbids ${line}`, () => {
    const [problem, ...more] = check({ 'packages/a/src/reconcile.ts': `// first line\n${line}\n` })
    assert.match(problem ?? '', /^packages\/a\/src\/reconcile\.ts:2: literal time ".+"; name it in /)
    assert.deepEqual(more, [])
  })

test('allows times in the file for them, in tests, and zero anywhere', () => {
  const time = 'export const delayMs = 100\n'
  assert.deepEqual(
    check({
      'packages/a/src/timings.ts': time,
      'packages/a/src/reconcile.test.ts': time,
      'packages/a/src/testing/clock.ts': time,
      'packages/a/src/plan.ts':
        'let waitMs = 0\nconst items = 10\nreturn { requeueAfter: 0 }\nconst delayMs = firstMs * 2\n',
      'packages/b/src/other.ts': time,
    }),
    [],
  )
})
