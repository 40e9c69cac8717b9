// SPDX-License-Identifier: Apache-2.0

// The npm package and the single executable of the `grove` command, in a folder without a clone and without a registry.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import about from '../../../packages/cli/package.json' with { type: 'json' }
import { writeCliPackage } from '../../../tools/packaging/cli-package.ts'
import { writeExecutable } from '../../../tools/packaging/executable.ts'
import { repository } from './rendered-chart.ts'

const run = promisify(execFile)

describe('the packed grove command', () => {
  const folder = mkdtempSync(join(tmpdir(), 'grove-package-'))
  const home = join(folder, 'home')
  /** Without variables of npm and without a kubeconfig of the tests. */
  const env = {
    PATH: [dirname(process.execPath), process.env.PATH].join(delimiter),
    HOME: home,
    TMPDIR: folder,
  }
  let tarball = ''

  before(async () => {
    mkdirSync(home)
    tarball = await writeCliPackage(join(folder, 'npm'))
  })
  after(() => rmSync(folder, { recursive: true, force: true }))

  test('the same sources yield the same bytes', async () => {
    const again = await writeCliPackage(join(folder, 'again'))
    assert.deepEqual(readFileSync(again), readFileSync(tarball))
  })

  test('npx runs both commands from the tarball without a registry', async () => {
    const npx = (command: string, ...args: string[]) =>
      run('npx', ['--yes', '--offline', '--omit=optional', '--package', tarball, command, ...args], {
        cwd: home,
        env,
      })
    assert.equal((await npx('grove', '--version')).stdout, `${about.version}\n`)
    assert.equal((await npx('kubectl-grove', '--version')).stdout, `${about.version}\n`)
    const { stdout } = await npx('grove', 'up', '--demo', '--exit-when-ready')
    assert.match(stdout, /llm is ready\. Its manifest is .*playground\/disaggregated\/podcliqueset\.yaml\./)
  })

  test('the package of a release prints manifests with the images of that release', async () => {
    const release = { registry: 'registry.example/grove', version: `v${about.version}` }
    await writeCliPackage(join(folder, 'release'), release)
    const launcher = join(folder, 'release/package/bin/grove.mjs')
    const { stdout, stderr } = await run(process.execPath, [launcher, 'manifests'], { cwd: home, env })
    assert.equal(stderr, '')
    const images = [...stdout.matchAll(/^ *image: (.*)$/gm)].map(([, image]) => image)
    assert.deepEqual([...new Set(images)], [`registry.example/grove/grove-operator:v${about.version}`])
    assert.match(stdout, /value: registry\.example\/grove\/grove-initc\n/)
    assert.doesNotMatch(stdout, /-dev\b/)
  })

  test('a build for a release needs registry and version, and the version of the package', async () => {
    const table: [args: string[], message: RegExp][] = [
      [['--version', `v${about.version}`], /--registry and --version require each other/],
      [
        ['--version', 'v99.0.0', '--registry', 'registry.example'],
        /--version v99\.0\.0 is not that of packages\/cli\/package\.json: v/,
      ],
    ]
    for (const program of ['cli-package.ts', 'executable.ts'])
      for (const [args, message] of table)
        await assert.rejects(
          run(process.execPath, [join(repository, 'tools/packaging', program), ...args], { env }),
          (error: { code?: number; stderr?: string }) => error.code === 2 && message.test(error.stderr ?? ''),
        )
  })

  test('an older Node without the package that provides a new one prints what to install', async () => {
    const launcher = join(folder, 'npm/package/bin/grove.mjs')
    const older = join(folder, 'older.mjs')
    // The launcher decides by the Node version that it reads.
    const code = `Object.defineProperty(process, 'version', { value: 'v20.20.0' })\n`
    cpSync(launcher, older)
    const preload = `data:text/javascript,${encodeURIComponent(code)}`
    await assert.rejects(
      run(process.execPath, ['--import', preload, older], { env }),
      (error: { code?: number; stderr?: string }) =>
        error.code === 1 && /grove needs Node 24 or newer, and this is v20\.20\.0\./.test(error.stderr ?? ''),
    )
  })

  test('the single executable runs a demo, also as a plugin of kubectl', async () => {
    const file = join(folder, 'grove')
    const release = { registry: 'registry.example/grove', version: `v${about.version}` }
    await writeExecutable(file, { release })
    assert.equal((await run(file, ['--version'], { cwd: home, env })).stdout, `${about.version}\n`)
    const manifests = await run(file, ['manifests'], { cwd: home, env })
    assert.match(manifests.stdout, /image: registry\.example\/grove\/grove-operator:v/)
    const plugin = join(folder, 'kubectl-grove')
    symlinkSync(file, plugin)
    const { stdout } = await run(plugin, ['up', '--demo', '--exit-when-ready'], { cwd: home, env })
    const [, manifest = ''] = /llm is ready\. Its manifest is (\S+)\.\n/.exec(stdout) ?? []
    const validated = await run(file, ['validate', '-f', manifest], { cwd: home, env })
    assert.match(validated.stdout, /1 accepted/)
    assert.deepEqual(readdirSync(join(home, '.cache/grove', about.version)), ['playground'])
  })
})
