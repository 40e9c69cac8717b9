// SPDX-License-Identifier: Apache-2.0

// Executes the commands of the documentation: every `sh` block of a page, in order, in one shell. Pages that need a
// real control plane are executed by test/packaging. newcomer.kubernetes.test.ts compares the output of the first
// pages.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { documentationPages, pagesOnKubernetes, shellScript } from '../../../tools/checks/markdown.ts'
import { type RunningGrove, startGrove } from './testing/grove-process.ts'

const root = resolve(import.meta.dirname, '../../..')
/** These pages share a cluster. A reader starts with them while the demo runs. */
const firstPages = ['README.md', 'docs/quickstart.md']
const pages = [...firstPages, ...documentationPages(root).filter(page => !firstPages.includes(page))].filter(
  page => !pagesOnKubernetes.includes(page) && shellScript(root, page) !== '',
)

describe('the commands in the documentation', {
  skip: process.platform === 'win32' && 'the commands require a POSIX shell',
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

  it('includes the quickstart and all guides', () => {
    assert.ok(pages.includes('docs/quickstart.md') && pages.length >= 10, pages.join(', '))
  })

  for (const page of pages)
    it(`of ${page} all succeed`, async () => {
      const child = spawn('bash', ['-c', shellScript(root, page)], {
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
