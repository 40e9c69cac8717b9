// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { bundle } from './bundle.ts'

describe('the bundled program', () => {
  const directory = mkdtempSync(join(tmpdir(), 'grove-waiter-'))
  after(() => rmSync(directory, { recursive: true }))
  const file = join(directory, 'waiter.mjs')
  writeFileSync(file, bundle())

  const cases: [args: string[], code: number, stdout: RegExp, stderr: RegExp][] = [
    [[], 0, /^done: nothing to wait for\n$/, /^$/],
    [['--help'], 0, /--podcliques/, /^$/],
    [['--podcliques=a'], 1, /^$/, /^error: "a" is not <name>:<count>/],
    [['--podcliques=a:1'], 1, /^$/, /^error: cannot read the namespace of the pod/],
  ]
  for (const [args, code, stdout, stderr] of cases)
    it(`behaves like the source with ${JSON.stringify(args)}`, () => {
      for (const program of [file, join(import.meta.dirname, 'main.ts')]) {
        const done = spawnSync(process.execPath, [program, ...args], {
          encoding: 'utf8',
          env: { GROVE_WAITER_POD_INFO: directory },
        })
        assert.equal(done.status, code, done.stderr)
        assert.match(done.stdout, stdout)
        assert.match(done.stderr, stderr)
      }
    })

  it('needs only Node', () => {
    const imported = [...bundle().matchAll(/^import .* from '([^']+)'$/gm)].map(match => match[1])
    assert.deepEqual(imported.sort(), ['node:fs', 'node:https', 'node:path'])
  })
})
