// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { cacheDirectory, withLock } from './cache.ts'
import { isAlive } from './pids.ts'

const directory = mkdtempSync(join(tmpdir(), 'grove-cache-test-'))
after(() => rmSync(directory, { recursive: true }))

test('the cache directory follows the environment and is never in the work tree', () => {
  assert.equal(cacheDirectory({ GROVE_TEST_CACHE: '/a', XDG_CACHE_HOME: '/b' }), '/a')
  assert.equal(cacheDirectory({ XDG_CACHE_HOME: '/b' }), '/b/grove-test-kubernetes')
  assert.match(cacheDirectory({}), /\.cache\/grove-test-kubernetes$/)
})

test('one process holds the lock at a time, and a failure releases it', async () => {
  const file = join(directory, 'lock')
  let inside = 0
  let most = 0
  const work = async (fail: boolean) => {
    most = Math.max(most, ++inside)
    await new Promise(resolve => setImmediate(resolve))
    inside--
    if (fail) throw new Error('on purpose')
  }
  const done = await Promise.allSettled(
    [true, false, true, false].map(fail => withLock(file, () => work(fail))),
  )
  assert.equal(most, 1)
  assert.deepEqual(
    done.map(({ status }) => status),
    ['rejected', 'fulfilled', 'rejected', 'fulfilled'],
  )
  assert.ok(!existsSync(file))
})

test('the lock of a dead process is taken over', async () => {
  const file = join(directory, 'stale')
  const { pid } = spawnSync(process.execPath, ['--version'])
  assert.ok(!isAlive(pid))
  writeFileSync(file, String(pid))
  assert.equal(await withLock(file, async () => 'held'), 'held')
})
