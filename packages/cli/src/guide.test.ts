// SPDX-License-Identifier: Apache-2.0

// Executes the commands of the README, the quickstart and the guides: every `sh` block of a page, in order, in one shell.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { type RunningGrove, startGrove } from './testing/grove-process.ts'

const root = resolve(import.meta.dirname, '../../..')
const pages = ['README.md', 'docs/quickstart.md', ...globSync('docs/guides/*.md', { cwd: root }).sort()]

function shellBlocks(page: string): string {
  const text = readFileSync(join(root, page), 'utf8')
  const blocks = [...text.matchAll(/^```sh\n(.*?)^```/gms)].map(([, body]) => body)
  assert.ok(blocks.length > 0, `${page} has no block marked sh`)
  return `set -euo pipefail\n${blocks.join('\n')}`
}

describe('the commands in the documentation', {
  skip: process.platform === 'win32' && 'they are for a shell',
}, () => {
  const folder = mkdtempSync(join(tmpdir(), 'grove-guide-'))
  // A new user has no kubeconfig. npm uses the Node of this test, so that it does not install another.
  const environment = {
    HOME: folder,
    TMPDIR: folder,
    KUBECONFIG: undefined,
    KUBERNETES_SERVICE_HOST: undefined,
    PATH: `${resolve(process.execPath, '..')}:${process.env.PATH}`,
  }
  let up: RunningGrove

  before(async () => {
    up = startGrove(['up', '--demo'], { environment })
    await up.shows(/llm is ready/)
  })
  after(async () => {
    up?.child.kill()
    await up?.ended
    rmSync(folder, { recursive: true, force: true })
  })

  for (const page of pages)
    it(`of ${page} all succeed`, async () => {
      const child = spawn('bash', ['-c', shellBlocks(page)], {
        cwd: root,
        env: { ...process.env, ...environment },
      })
      let output = ''
      for (const stream of [child.stdout, child.stderr])
        stream.setEncoding('utf8').on('data', chunk => {
          output += chunk
        })
      const code = await new Promise(done => child.on('close', done))
      assert.equal(code, 0, output.slice(-4_000))
    })
})
