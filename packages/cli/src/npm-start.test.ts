// SPDX-License-Identifier: Apache-2.0

// Tests `npm start` on terminals of two sizes and without a terminal: everything fits, and no reason is truncated.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { after, describe, test } from 'node:test'
import { stripVTControlCharacters } from 'node:util'
import { waitFor } from '@grove/test-kubernetes'
import {
  hasPseudoTerminals,
  onPseudoTerminal,
  type PseudoTerminal,
  type TerminalSize,
} from './testing/pseudo-terminal.ts'
import { screenOf, textOf } from './testing/screen.ts'

const root = resolve(import.meta.dirname, '../../..')
const folder = mkdtempSync(join(tmpdir(), 'grove-start-'))
const environment = {
  ...process.env,
  HOME: folder,
  TMPDIR: folder,
  KUBECONFIG: undefined,
  PATH: `${resolve(process.execPath, '..')}:${process.env.PATH}`,
}
after(() => rmSync(folder, { recursive: true, force: true }))

// biome-ignore lint/suspicious/noControlCharactersInRegex: terminals receive control characters
const cursorUp = /\u001b\[(\d+)A/g

/** The first line of each part of the tree, and the commands to try. */
const tree = [
  'PodCliqueSet llm',
  '└─ replica 0',
  'PodClique llm-0-router',
  'PodCliqueScalingGroup llm-0-decode',
  'PodClique llm-0-decode-2-dworker',
  'PodCliqueScalingGroup llm-0-prefill',
  'PodClique llm-0-prefill-1-pworker',
]
const nextSteps = [
  'export KUBECONFIG=',
  'kubectl get pcsg,pclq,pg,pods -l app.kubernetes.io/part-of=llm',
  'npx grove tree llm --watch',
  'kubectl scale pcsg llm-0-decode --replicas=4',
  'kubectl delete pod -l app.kubernetes.io/part-of=llm --wait=false',
  '--now',
  'kubectl delete pcs llm',
  'Press Ctrl-C to stop the cluster.',
]

for (const size of [
  { columns: 80, rows: 24 },
  { columns: 120, rows: 40 },
])
  describe(`npm start on a terminal of ${size.columns}×${size.rows}`, {
    skip: !hasPseudoTerminals && 'the program `script` is not installed',
  }, () => {
    test('shows the whole tree and the next steps', async () => {
      const terminal = start('npm start', size)
      await untilShown(terminal, text => /llm is ready/.test(text) && isComplete(lastFrame(terminal)))
      const lines = await stopped(terminal)
      assertFits(terminal, size)
      const shown = lines.join('\n')
      for (const text of [...tree, ...nextSteps, 'Containers are simulated'])
        assert.ok(shown.includes(text), text)
      assert.ok(!ofGrove(terminal).includes('…'), 'nothing is cut')
      // On a short screen the commands are above the visible part, and a line below the tree refers to them.
      assert.equal(/^Scroll up for commands to try/m.test(shown), size.rows === 24)
      keep(`ready-${size.columns}`, lines)
    })

    test('shows why the set does not fit, what to do, and the next steps', async () => {
      const terminal = start('npm start -- --nodes 5', size)
      await untilShown(terminal, text =>
        /is not ready:[\s\S]*Press Ctrl-C[\s\S]*\[1\] the gang needs/.test(text),
      )
      const lines = await stopped(terminal)
      assertFits(terminal, size)
      const unwrapped = lines.join(' ').replace(/\s+/g, ' ')
      const cause = 'the gang needs 12 pods; all 5 eligible nodes together can hold 6 pods'
      const pattern =
        /llm is not ready: PodGang llm-0: ClusterTooSmall since \S+, 13 pods wait: (.*?) To make it fit/
      assert.equal(pattern.exec(unwrapped)?.[1], cause, unwrapped)
      assert.ok(unwrapped.includes(`[1] ${cause}`), unwrapped)
      for (const advice of ['start again with more nodes or GPUs (--nodes, --gpus)', 'npx grove explain llm'])
        assert.ok(unwrapped.includes(advice), unwrapped)
      const shown = lines.join('\n')
      for (const text of [...tree, ...nextSteps]) assert.ok(shown.includes(text), text)
      assert.ok(!ofGrove(terminal).includes('…'), 'nothing is cut')
      keep(`unfit-${size.columns}`, lines)
    })
  })

test('npm start without a terminal prints whole lines without control characters, and the next steps', async () => {
  const child = spawn('npm', ['start'], { cwd: root, env: environment, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', chunk => {
      output += chunk
    })
  const ended = new Promise(done => child.on('close', done))
  await waitFor('the set to be ready', () => {
    if (child.exitCode !== null) throw new Error(output)
    return /^Press Ctrl-C/m.test(output)
  })
  child.kill('SIGTERM')
  await ended
  assert.equal(stripVTControlCharacters(output), output)
  assert.ok(!output.includes('…'), 'nothing is cut')
  for (const text of [...tree, ...nextSteps]) assert.ok(output.includes(text), `${text}\n${output}`)
  keep('no-terminal', output.split('\n'))
})

function start(command: string, size: TerminalSize): PseudoTerminal {
  const terminal = onPseudoTerminal(command, size, { directory: root, environment })
  after(() => terminal.kill())
  return terminal
}

async function untilShown(terminal: PseudoTerminal, isShown: (text: string) => boolean): Promise<void> {
  await waitFor('the output', () => isShown(stripVTControlCharacters(terminal.output()))).catch(error => {
    throw new Error(`${error.message}\n${terminal.output()}`)
  })
}

/** Presses Ctrl-C, and returns the lines on the screen and above it. */
async function stopped(terminal: PseudoTerminal): Promise<string[]> {
  const output = ofGrove(terminal)
  terminal.type('\x03')
  // npm reports the signal of the terminal.
  assert.equal(await terminal.ended, 130, terminal.output())
  assert.deepEqual(
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(path => path.endsWith('kubeconfig')),
    [],
  )
  return screenOf(output).map(textOf)
}

/** The output without that of npm, which draws its progress. */
function ofGrove(terminal: PseudoTerminal): string {
  const output = terminal.output()
  return output.slice(output.indexOf('A Kubernetes cluster with'))
}

/** Every line fits into the width. The view never moves the cursor above the screen. */
function assertFits(terminal: PseudoTerminal, { columns, rows }: TerminalSize): void {
  const output = ofGrove(terminal)
  const wide = stripVTControlCharacters(output)
    .split('\n')
    .filter(line => [...line].length > columns)
  assert.deepEqual(wide, [])
  const moves = [...output.matchAll(cursorUp)].map(([, lines]) => Number(lines))
  assert.ok(
    moves.every(lines => lines < rows),
    `${Math.max(...moves)} rows`,
  )
}

function lastFrame(terminal: PseudoTerminal): string {
  return stripVTControlCharacters(terminal.output().split(cursorUp).at(-1)!)
}

function isComplete(frame: string): boolean {
  const counts = [...frame.matchAll(/(\d+)\/(\d+) (?:ready|available)/g)]
  return counts.length >= 10 && counts.every(([, is, wanted]) => is === wanted)
}

/** `KEEP_SCREENS=FOLDER` writes the screens, to look at them. */
function keep(name: string, lines: readonly string[]): void {
  if (process.env.KEEP_SCREENS)
    writeFileSync(join(process.env.KEEP_SCREENS, `${name}.txt`), `${lines.join('\n')}\n`)
}
