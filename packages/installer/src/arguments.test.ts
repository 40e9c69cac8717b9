// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseLaunch } from './arguments.ts'

for (const [args, launch] of [
  [[], { task: 'install', force: false, timeoutMs: 60_000 }],
  [['--force', '--timeout=5'], { task: 'install', force: true, timeoutMs: 5_000 }],
  [['--print'], { task: 'print' }],
  [['-v'], { task: 'version' }],
  [['-h', '--force'], { task: 'help' }],
  [['--timeout=soon'], { task: 'rejected', message: '--timeout is a number of seconds above 0, not soon' }],
] as const)
  test(`arguments: ${args.join(' ') || 'none'}`, () => assert.deepEqual(parseLaunch(args), launch))

test('an unknown argument is rejected by its name', () => {
  const launch = parseLaunch(['--dry-run'])
  assert.match(launch.task === 'rejected' ? launch.message : '', /--dry-run/)
})
