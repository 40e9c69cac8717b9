// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { good, wantsColours } from '../terminal/line.ts'
import { LiveView } from './live-view.ts'

function screen(size: { isTTY?: boolean; columns?: number; rows?: number }) {
  const out = Object.assign(new PassThrough({ encoding: 'utf8' }), size)
  return { out, text: (): string => out.read() ?? '' }
}

test('a terminal is redrawn in place, and each line fits its width', () => {
  const { out, text } = screen({ isTTY: true, columns: 10, rows: 10 })
  const view = new LiveView(out)
  view.show(['one', 'two is far too long'])
  assert.equal(text(), 'one\ntwo is fa…\n')
  view.show(['one'])
  assert.equal(text(), '\x1b[2Aone\x1b[K\n\x1b[0J')
})

test('a screen that is too low shows the first lines, and the end shows all', () => {
  const { out, text } = screen({ isTTY: true, columns: 80, rows: 4 })
  const view = new LiveView(out)
  const lines = ['a', 'b', 'c', 'd', 'e']
  view.show(lines)
  assert.equal(text(), 'a\nb\n… and 3 more lines\n')
  view.end(lines)
  assert.equal(text(), '\x1b[3Aa\x1b[K\nb\x1b[K\nc\x1b[K\nd\x1b[K\ne\x1b[K\n\x1b[0J')
})

test('a terminal of unknown size gets the usual size', () => {
  const { out, text } = screen({ isTTY: true, columns: 0, rows: 0 })
  new LiveView(out).show(['x'.repeat(100)])
  assert.equal(text(), `${'x'.repeat(79)}…\n`)
})

test('other outputs get only new lines, without branches', () => {
  const { out, text } = screen({})
  const view = new LiveView(out)
  view.show([])
  view.show(['root', '└─ leaf 0/1'])
  view.show(['root', '└─ leaf 0/1'])
  view.show(['root', '└─ leaf 1/1'])
  assert.equal(text(), 'root\n└─ leaf 0/1\nleaf 1/1\n')
})

test('a message stays above the redrawn lines', () => {
  const { out, text } = screen({ isTTY: true, columns: 80, rows: 10 })
  const view = new LiveView(out)
  view.show(['tree 0/1'])
  view.show(['tree 1/1'])
  view.say(['ready', ''])
  view.show(['tree 1/1', 'leaf'])
  assert.equal(text(), 'tree 0/1\n\x1b[1Atree 1/1\x1b[K\n\x1b[0J\x1b[1A\x1b[0Jready\n\ntree 1/1\nleaf\n')
  view.show([])
  assert.equal(text(), '\x1b[2A\x1b[0J')
})

test('on other outputs a message is printed between the lines', () => {
  const { out, text } = screen({})
  const view = new LiveView(out)
  view.show(['tree 0/1'])
  view.say(['ready'])
  view.show(['tree 0/1'])
  view.show(['tree 1/1'])
  assert.equal(text(), 'tree 0/1\nready\ntree 1/1\n')
})

test('only a terminal that can show colours gets them, unless NO_COLOR is set', t => {
  const { NO_COLOR, TERM } = process.env
  t.after(() => restore({ NO_COLOR, TERM }))
  for (const [environment, isTTY, expected] of [
    [{ NO_COLOR: undefined, TERM: 'xterm' }, true, true],
    [{ NO_COLOR: undefined, TERM: 'xterm' }, false, false],
    [{ NO_COLOR: '1', TERM: 'xterm' }, true, false],
    [{ NO_COLOR: undefined, TERM: 'dumb' }, true, false],
  ] as const) {
    restore(environment)
    assert.equal(wantsColours({ isTTY }), expected)
  }
})

function restore(environment: Readonly<Record<string, string | undefined>>): void {
  for (const [name, value] of Object.entries(environment))
    if (value === undefined) delete process.env[name]
    else process.env[name] = value
}

test('colours have no width and are reset', () => {
  const { out, text } = screen({ isTTY: true, columns: 6, rows: 10 })
  const view = new LiveView(out)
  view.show([['', good('green!')]])
  assert.equal(text(), '\x1b[32mgreen!\x1b[39m\n')
  view.say([['', good('green and long'), ' text']])
  assert.equal(text(), '\x1b[1A\x1b[0J\x1b[32mgreen and long\x1b[39m text\n')
  view.show([['a', good('green and long'), ' text']])
  assert.equal(text(), 'a\x1b[32mgree\x1b[39m…\n')
})

test('control characters are escaped in every kind of output', () => {
  const evil = 'x\x1b]0;owned\x07\x1b[2J\r\n\x9b31m'
  const shown = 'x\\x1b]0;owned\\x07\\x1b[2J\\x0d\\x0a\\x9b31m'
  for (const isTTY of [true, false])
    for (const method of ['show', 'say', 'end'] as const) {
      const { out, text } = screen({ isTTY, columns: 80, rows: 10 })
      new LiveView(out)[method]([[evil, good(evil)]])
      assert.equal(text(), isTTY ? `${shown}\x1b[32m${shown}\x1b[39m\n` : `${shown}${shown}\n`)
    }
})

test('an escaped character is truncated in its escaped form', () => {
  const { out, text } = screen({ isTTY: true, columns: 6, rows: 10 })
  new LiveView(out).show(['abc\x1b[2J'])
  assert.equal(text(), 'abc\\x…\n')
})

test('notes are wrapped and not cut, and take rows from the lines', () => {
  const { out, text } = screen({ isTTY: true, columns: 20, rows: 7 })
  const view = new LiveView(out)
  view.show(['a', 'b', 'c', 'd', 'e'], ['', '[1] needs 48 pods, has 33 pods'])
  assert.equal(text(), 'a\nb\n… and 3 more lines\n\n[1] needs 48 pods,\n  has 33 pods\n')
  view.end(['a', 'b', 'c', 'd', 'e'], ['last'])
  assert.match(text(), /a\S*\nb\S*\nc\S*\nd\S*\ne\S*\nlast/)
})
