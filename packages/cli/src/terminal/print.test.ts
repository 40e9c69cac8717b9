// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { parse } from 'yaml'
import { bad } from './line.ts'
import { jsonOf, printJson, printLines, printNote } from './print.ts'
import { printObjects, printYaml } from './print-objects.ts'
import { onTerminal } from './terminal.ts'

const evil = 'x\x1b]0;owned\x07\x1b[2J\r\n\x7f\x9b31m\ty'
const shown = 'x\\x1b]0;owned\\x07\\x1b[2J\\x0d\\x0a\\x7f\\x9b31m\\x09y'

function printed(work: () => void, isTTY = false): { stdout: string; stderr: string } {
  const stdout = Object.assign(new PassThrough({ encoding: 'utf8' }), { isTTY })
  const stderr = new PassThrough({ encoding: 'utf8' })
  onTerminal({ stdin: new PassThrough(), stdout, stderr }, work)
  return { stdout: stdout.read() ?? '', stderr: stderr.read() ?? '' }
}

test('control characters in lines and notes are printed as text', () => {
  assert.equal(printed(() => printLines([evil, bad(evil)])).stdout, `${shown}\n${shown}\n`)
  assert.equal(printed(() => printLines([bad(evil)]), true).stdout, `\x1b[31m${shown}\x1b[39m\n`)
  assert.equal(printed(() => printNote(evil)).stderr, `${shown}\n`)
})

test('JSON and YAML contain them escaped, with the same meaning', () => {
  const value = { [evil]: evil, list: [evil, 'a\x85b'] }
  const isClean = (text: string) => assert.doesNotMatch(text, /(?!\n)\p{Cc}/u)
  for (const text of [printed(() => printJson(value)).stdout, jsonOf(value)]) {
    isClean(text)
    assert.deepEqual(JSON.parse(text), value)
  }
  for (const { stdout } of [printed(() => printYaml(value)), printed(() => printObjects([value], 'yaml'))]) {
    isClean(stdout)
    assert.deepEqual(parse(stdout, { version: '1.1' }), value)
  }
})

test('objects are one List in JSON', () => {
  for (const objects of [[], [{ a: 1 }], [{ a: { b: 'x\ny' } }, [], 'text', null]])
    assert.equal(
      printed(() => printObjects(objects, 'json')).stdout,
      `${JSON.stringify({ apiVersion: 'v1', kind: 'List', metadata: {}, items: objects }, null, 2)}\n`,
    )
})
