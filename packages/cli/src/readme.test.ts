// SPDX-License-Identifier: Apache-2.0

// The picture in the README is the output of `npm start`, and a reader sees the first commands without scrolling.
// `WRITE_PICTURE=1 npm run test:unit -- packages/cli/src/readme.test.ts` draws the picture again.
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { after, test } from 'node:test'
import { stripVTControlCharacters } from 'node:util'
import { call } from './testing/grove-call.ts'
import { pictureOf, screenOf, textOf } from './testing/screen.ts'

const root = resolve(import.meta.dirname, '../../..')
const picture = 'docs/images/npm-start.svg'
const readme = readFileSync(join(root, 'README.md'), 'utf8')

const folder = mkdtempSync(join(tmpdir(), 'grove-readme-'))
after(() => rmSync(folder, { recursive: true, force: true }))

test('the picture of npm start shows what the command prints', async () => {
  assert.ok(readme.includes(`](${picture})`), `README.md does not show ${picture}`)
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>
  }
  const [, args = ''] = /^node \S+ packages\/cli\/src\/main\.ts (.*)$/.exec(scripts.start!) ?? []
  Object.assign(process.env, { HOME: folder, TMPDIR: folder })

  const running = call(args.split(' '), {
    isTTY: true,
    onOutput: text => isComplete(text) && process.emit('SIGINT'),
  })
  const { status, stdout, stderr } = await running
  assert.deepEqual([status, stderr], [0, ''])

  const lines = screenOf(stdout).filter(line => line.length > 0)
  const tree = lines.slice(lines.findLastIndex(line => textOf(line).startsWith('PodCliqueSet ')))
  const drawn = pictureOf('Terminal with the output of npm start', tree)
  if (process.env.WRITE_PICTURE) writeFileSync(join(root, picture), drawn)
  const stored = readFileSync(join(root, picture), 'utf8')
  const withoutAges = (svg: string) =>
    svg.replace(/>\d+s</g, '>AGE<').replace(/(width|height|viewBox)="[\d. ]+"/g, '')
  assert.equal(withoutAges(drawn), withoutAges(stored), `draw the picture again, see ${import.meta.filename}`)
})

test('the README explains and starts Grove on one screen of 45 lines and 120 columns', () => {
  const [before = '', after = ''] = readme.split('npm start ')
  const screen = `${before}${after.split(/^#/m)[0]}`
  const rows = screen.split('\n').map(line => Math.max(1, Math.ceil(line.length / 120)))
  const [, height] = /height="(\d+)"/.exec(readFileSync(join(root, picture), 'utf8'))!
  const total = rows.reduce((sum, each) => sum + each, 0) + Number(height) / 20
  assert.ok(total <= 45, `${total} lines`)
})

/** True if the command has reported the workload as ready, and the last frame shows every part of it as ready. */
function isComplete(output: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: terminals receive control characters
  const [frame = '', before] = output.split(/\u001b\[\d+A/).reverse()
  const counts = [...stripVTControlCharacters(frame).matchAll(/(\d+)\/(\d+) (?:ready|available)/g)]
  return (
    before !== undefined &&
    output.includes('is ready. In another terminal') &&
    / \d+s\n$/.test(stripVTControlCharacters(frame)) &&
    counts.every(([, is, wanted]) => is === wanted)
  )
}
