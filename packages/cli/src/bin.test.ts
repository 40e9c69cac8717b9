// SPDX-License-Identifier: Apache-2.0

// Runs the commands of package.json through links, as `npm link` and npx create them.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join, resolve } from 'node:path'
import { after, describe, it } from 'node:test'
import { promisify } from 'node:util'
import about from '../package.json' with { type: 'json' }

const folder = mkdtempSync(join(tmpdir(), 'grove-bin-'))
after(() => rmSync(folder, { recursive: true, force: true }))
writeFileSync(join(folder, 'text.yaml'), 'text\n')

const run = promisify(execFile)
/** The link is executed itself, so the launcher must be executable and start with a shebang line. */
const options = {
  cwd: folder,
  env: {
    ...process.env,
    PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH}`,
    // As in an npm script: the current directory must win.
    INIT_CWD: tmpdir(),
  },
}

describe('the commands of the package', () => {
  it('are grove and a plugin of kubectl', () =>
    assert.deepEqual(Object.keys(about.bin).sort(), ['grove', 'kubectl-grove']))

  for (const [name, path] of Object.entries(about.bin)) {
    const link = join(folder, name)
    symlinkSync(resolve(import.meta.dirname, '..', path), link)

    it(`${name} prints the version`, async () =>
      assert.deepEqual(await run(link, ['--version'], options), { stdout: `${about.version}\n`, stderr: '' }))

    it(`${name} reads files of the current directory and returns the exit code`, async () =>
      await assert.rejects(
        run(link, ['hash', '-f', 'text.yaml'], options),
        (error: Error & { code?: number }) => {
          assert.equal(error.code, 2)
          assert.match(error.message, /grove: no PodCliqueSet in text\.yaml/)
          return true
        },
      ))
  }
})
