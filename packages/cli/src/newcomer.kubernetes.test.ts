// SPDX-License-Identifier: Apache-2.0

// A newcomer with the real kubectl: `npm start` of the README, then every command of the README, of the quickstart
// and of the guide about waiting, in order. The output is compared with the text below each command, and Ctrl-C
// leaves nothing.
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { buildBinaries, waitFor } from '@grove/test-kubernetes'
import { blocksOfTest, type FencedBlock, fencedBlocks } from '../../../tools/checks/markdown.ts'

const root = resolve(import.meta.dirname, '../../..')
const readme = 'README.md'
const quickstart = 'docs/quickstart.md'
const waiting = 'docs/guides/wait-and-diagnose.md'
const file = 'packages/cli/src/newcomer.kubernetes.test.ts'

interface Step {
  readonly page: string
  readonly command: FencedBlock
  /** The text block below the command. */
  readonly promise: string | undefined
}

describe('a newcomer', () => {
  const folder = mkdtempSync(join(tmpdir(), 'grove-newcomer-'))
  const home = join(folder, 'home')
  const temporary = join(folder, 'tmp')
  const programs = join(folder, 'bin')
  // A new user has no kubeconfig, and npm runs without the settings of the npm that runs this test. It uses the Node of
  // this test, so that it does not install another.
  const environment: NodeJS.ProcessEnv = {
    ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('npm_'))),
    HOME: home,
    TMPDIR: temporary,
    KUBECONFIG: undefined,
    KUBERNETES_SERVICE_HOST: undefined,
    PATH: `${programs}:${resolve(process.execPath, '..')}:${process.env.PATH}`,
  }
  const steps = [readme, quickstart, waiting].flatMap(stepsOf)
  let workTree: string
  let terminal: ReturnType<typeof startTerminal> | undefined

  before(async () => {
    for (const each of [home, temporary, programs]) mkdirSync(each)
    const { controlPlane } = await buildBinaries()
    writeFileSync(join(programs, 'kubectl'), `#!/bin/sh\nexec '${controlPlane}' kubectl "$@"\n`, {
      mode: 0o755,
    })
    workTree = changedFiles()
  })
  after(() => {
    terminal?.end('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  })

  test('runs npm start, which prints the tree of the picture and the next commands', async () => {
    const [start] = steps.splice(0, 1)
    assert.match(start!.command.text, /^npm start /)
    terminal = startTerminal(start!.command.text)
    await terminal.shows(/llm is ready\. In another terminal:[\s\S]*Press Ctrl-C/)
    const [, kubeconfig] = /^ +export KUBECONFIG=(.*)$/m.exec(terminal.output())!
    assert.ok(existsSync(kubeconfig!))
    const picture = normalised(textOfPicture())
    let tree = ''
    await waitFor(
      'the tree of the picture',
      async () => {
        tree = normalised((await run('npx grove tree')).output)
        return tree === picture
      },
      { timeoutMs: 60_000 },
    ).catch(() => undefined)
    assert.equal(tree, picture)
    // The line that npm start prints, for kubectl.
    environment.KUBECONFIG = kubeconfig
  })

  for (const page of [readme, quickstart, waiting])
    test(`runs the commands of ${page}, and sees what the page promises`, async () => {
      const own = steps.filter(step => step.page === page)
      assert.ok(own.length > 0)
      for (const step of own) await take(step)
    })

  test('every block that names this test was executed', () => {
    const executed = [readme, quickstart].flatMap(page => stepsOf(page).map(({ command }) => command.text))
    for (const { page, line, text } of blocksOfTest(root, file))
      assert.ok(executed.includes(text), `${page}:${line}`)
  })

  test('presses Ctrl-C, and no process, file or kubeconfig is left', async () => {
    const { KUBECONFIG } = environment
    const [, server] = /running at (\S+)/.exec(terminal!.output())!
    await terminal!.end('SIGINT')
    assert.equal(terminal!.isRunning(), false)
    assert.equal(existsSync(KUBECONFIG!), false)
    await assert.rejects(fetch(server!), /fetch failed/)
    assert.deepEqual(readdirSync(temporary), [])
    // The caches of npm and kubectl.
    assert.deepEqual(
      readdirSync(home).filter(name => name !== '.npm'),
      ['.kube'],
    )
    assert.deepEqual(readdirSync(join(home, '.kube')), ['cache'])
    assert.equal(changedFiles(), workTree)
  })

  /**
   * Runs the commands, which must succeed. A command that only reads is repeated until it shows the output of the page,
   * because the cluster needs a moment and a reader would repeat it too.
   */
  async function take({ page, command, promise }: Step): Promise<void> {
    const isReading = /^npx grove (get|tree|status|rollout status)\b|^kubectl get\b/.test(command.text)
    let seen = ''
    const once = async () => {
      const { code, output } = await run(command.text)
      assert.equal(code, 0, `${page}:${command.line}: ${output}`)
      seen = normalised(output)
      return promise === undefined || seen === normalised(promise)
    }
    if (await once()) return
    if (isReading) await waitFor('the promised output', once, { timeoutMs: 60_000 }).catch(() => undefined)
    assert.equal(seen, normalised(promise!), `${page}:${command.line}`)
  }

  async function run(commands: string): Promise<{ code: number | null; output: string }> {
    const child = spawn('bash', ['-c', `set -euo pipefail\n${commands}`], { cwd: root, env: environment })
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', chunk => {
        output += chunk
      })
    const code = await new Promise<number | null>(done => child.on('close', done))
    return { code, output }
  }

  /** The first terminal of the reader. Ctrl-C ends all of its processes. */
  function startTerminal(command: string) {
    const child = spawn('bash', ['-c', command], {
      cwd: root,
      env: environment,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => (output += chunk))
    const closed = new Promise<number | null>(done => child.on('close', done))
    const isRunning = () => {
      try {
        return process.kill(-child.pid!, 0)
      } catch {
        return false
      }
    }
    return {
      output: () => output,
      shows: (pattern: RegExp) =>
        waitFor(String(pattern), () => {
          if (child.exitCode !== null) throw new Error(output)
          return pattern.test(output)
        }),
      isRunning,
      end: (signal: NodeJS.Signals) => {
        if (isRunning()) process.kill(-child.pid!, signal)
        return closed
      },
    }
  }
})

/** The commands of a page, except those that other tests execute because they need a release of the chart. */
function stepsOf(page: string): Step[] {
  const blocks = fencedBlocks(readFileSync(join(root, page), 'utf8'))
  return blocks.flatMap((command, index): Step[] => {
    const isExecuted = command.language === 'sh' && command.notRun === undefined
    const needsHelm = command.text.includes('helm ')
    if (!isExecuted || needsHelm) return []
    const end = command.line + command.text.split('\n').length
    const next = blocks[index + 1]
    const isBelow = next?.language === 'text' && next.line === end + 1
    return [{ page, command, promise: isBelow ? next.text : undefined }]
  })
}

/** Replaces ages, times, hashes and random suffixes of pod names. */
function normalised(text: string): string {
  return text
    .replace(/\d{4}-\d{2}-\d{2}T[\d:]+Z/g, 'TIME')
    .replace(/\bz2-[0-9a-f]{24}\b/g, 'HASH')
    .replace(/(?<= )(?:\d+[dhms])+(?=\n|$)/g, 'AGE')
    .replace(/(?<=-router)-[a-z0-9]{5}\b/g, '-SUFFIX')
    .trimEnd()
}

function textOfPicture(): string {
  const picture = readFileSync(join(root, 'docs/images/npm-start.svg'), 'utf8')
  return [...picture.matchAll(/<text [^>]*>(.*?)<\/text>/g)]
    .map(([, line]) => line!.replace(/<[^>]*>/g, '').replaceAll('\u00a0', ' '))
    .join('\n')
}

/** Changes of the work tree, which the commands must not make. */
function changedFiles(): string {
  if (!existsSync(join(root, '.git'))) return ''
  return execFileSync('git', ['status', '--porcelain'], { cwd: root, encoding: 'utf8' })
}
