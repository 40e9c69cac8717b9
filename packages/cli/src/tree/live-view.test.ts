// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { clip, LiveView } from './live-view.ts'

function screen(size: { isTTY?: boolean; columns?: number; rows?: number }) {
  const out = Object.assign(new PassThrough({ encoding: 'utf8' }), size)
  return { out, text: (): string => out.read() ?? '' }
}

test('a terminal is drawn over; each line fits on it', () => {
  const { out, text } = screen({ isTTY: true, columns: 10, rows: 10 })
  const view = new LiveView(out)
  view.show(['one', 'two is far too long'])
  assert.equal(text(), 'one\ntwo is fa…\n')
  view.show(['one'])
  assert.equal(text(), '\x1b[2A\x1b[0Jone\n')
})

test('a screen that is too low shows the beginning; the end shows all', () => {
  const { out, text } = screen({ isTTY: true, columns: 80, rows: 4 })
  const view = new LiveView(out)
  const lines = ['a', 'b', 'c', 'd', 'e']
  view.show(lines)
  assert.equal(text(), 'a\nb\n… and 3 more lines\n')
  view.end(lines)
  assert.equal(text(), '\x1b[3A\x1b[0Ja\nb\nc\nd\ne\n')
})

test('a terminal that does not know its size is taken for a usual one', () => {
  const { out, text } = screen({ isTTY: true, columns: 0, rows: 0 })
  new LiveView(out).show(['x'.repeat(100)])
  assert.equal(text(), `${'x'.repeat(79)}…\n`)
})

test('elsewhere only what is new is told, without the branches', () => {
  const { out, text } = screen({})
  const view = new LiveView(out)
  view.show([])
  view.show(['root', '└─ leaf 0/1'])
  view.show(['root', '└─ leaf 0/1'])
  view.show(['root', '└─ leaf 1/1'])
  assert.equal(text(), 'root\n└─ leaf 0/1\nleaf 1/1\n')
})

test('what is said stays above what changes', () => {
  const { out, text } = screen({ isTTY: true, columns: 80, rows: 10 })
  const view = new LiveView(out)
  view.show(['tree 0/1'])
  view.show(['tree 1/1'])
  view.say(['ready', ''])
  view.show(['tree 1/1', 'leaf'])
  assert.equal(text(), 'tree 0/1\n\x1b[1A\x1b[0Jtree 1/1\n\x1b[1A\x1b[0Jready\n\ntree 1/1\nleaf\n')
  view.show([])
  assert.equal(text(), '\x1b[2A\x1b[0J')
})

test('elsewhere what is said stands between the lines', () => {
  const { out, text } = screen({})
  const view = new LiveView(out)
  view.show(['tree 0/1'])
  view.say(['ready'])
  view.show(['tree 0/1'])
  view.show(['tree 1/1'])
  assert.equal(text(), 'tree 0/1\nready\ntree 1/1\n')
})

test('colours take no room and are ended', () => {
  assert.equal(clip('\x1b[32mgreen\x1b[0m', 5), '\x1b[32mgreen\x1b[0m')
  assert.equal(clip('\x1b[32mgreen and long\x1b[0m', 6), '\x1b[32mgreen\x1b[0m…')
})
