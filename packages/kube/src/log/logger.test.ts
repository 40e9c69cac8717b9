// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { captureLog } from './capture.ts'
import { createLogger, type LoggerOptions } from './logger.ts'

function linesOf(options: LoggerOptions, use: (log: ReturnType<typeof createLogger>) => void): string[] {
  const lines: string[] = []
  use(createLogger({ ...options, write: line => lines.push(line) }))
  return lines
}

describe('createLogger', () => {
  it('writes one JSON object per line, with an ISO time, the level name and the fields of its parents', () => {
    const [line] = linesOf({}, log =>
      log.child({ controller: 'fleet' }).child({ object: 'team/decode' }).info('Reconciled', { created: 3 }),
    )
    const { ts, ...rest } = JSON.parse(line!) as Record<string, unknown>
    assert.match(String(ts), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    assert.deepEqual(rest, {
      level: 'info',
      controller: 'fleet',
      object: 'team/decode',
      created: 3,
      msg: 'Reconciled',
    })
  })

  it('drops lines below its level', () => {
    const lines = linesOf({ level: 'warn' }, log => {
      log.debug('a')
      log.info('b')
      log.warn('c')
      log.error('d')
    })
    assert.deepEqual(
      lines.map(line => (JSON.parse(line) as { msg: string }).msg),
      ['c', 'd'],
    )
  })

  it('writes an error with its message, stack and causes', () => {
    const [line] = linesOf({}, log =>
      log.error('Write failed', {
        error: Object.assign(new TypeError('outer', { cause: new Error('inner') }), { code: 'Conflict' }),
      }),
    )
    const { error } = JSON.parse(line!) as {
      error: { message: string; name: string; code: string; stack: string; cause: { message: string } }
    }
    assert.equal(error.message, 'outer')
    assert.equal(error.name, 'TypeError')
    assert.equal(error.code, 'Conflict')
    assert.match(error.stack, /logger\.test\.ts/)
    assert.equal(error.cause.message, 'inner')
  })

  it('writes readable text in text format', () => {
    const [line] = linesOf({ format: 'text' }, log =>
      log.info('Lease taken', { holder: 'a b', count: 2, on: 'x' }),
    )
    assert.match(line!, /^\S+Z INFO {2}Lease taken holder="a b" count=2 on=x\n$/)
  })

  it('writes only the message of an error with a code in text format, and the stack of a cause without one', () => {
    class Coded extends Error {
      readonly code = 'Invalid'
    }
    const plain = new Coded('pod a is invalid: no image', { cause: new Coded('no image') })
    const bug = new Coded('pod a cannot be built', { cause: new TypeError('undefined is no object') })
    const [first, second] = linesOf({ format: 'text' }, log => {
      log.error('Failed', { error: plain })
      log.error('Failed', { error: bug })
    })
    assert.match(first!, / ERROR Failed\n {2}pod a is invalid: no image\n$/)
    assert.match(
      second!,
      /\n {2}pod a cannot be built\n {2}caused by:\n {2}TypeError: undefined is no object\n +at .*logger\.test\.ts/,
    )
  })

  it('writes the stack of an error on separate lines in text format', () => {
    const [line] = linesOf({ format: 'text' }, log => log.error('Failed', { error: new Error('why') }))
    assert.match(line!, /ERROR Failed\n {2}Error: why\n {6}at /)
  })

  it('is captured by captureLog', () => {
    const { log, lines } = captureLog()
    log.child({ a: 1 }).warn('careful', { b: 2 })
    assert.deepEqual(lines, [{ level: 'warn', message: 'careful', fields: { a: 1, b: 2 } }])
  })
})
