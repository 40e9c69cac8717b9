// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { parseCommandLine } from './arguments.ts'

const parentsOf = (...args: string[]): [string, number][] => {
  const command = parseCommandLine(args)
  assert.equal(command.task, 'wait', JSON.stringify(command))
  return command.task === 'wait' ? [...command.parents] : []
}

const errorOf = (...args: string[]): string => {
  const command = parseCommandLine(args)
  assert.equal(command.task, 'invalid')
  return command.task === 'invalid' ? command.message : ''
}

describe('parseCommandLine', () => {
  const accepted: [what: string, args: string[], parents: [string, number][]][] = [
    ['no flags: no parents', [], []],
    ['the form that the operator writes', ['--podcliques=w-0-a:2'], [['w-0-a', 2]]],
    ['the value as a separate argument', ['--podcliques', 'w-0-a:2'], [['w-0-a', 2]]],
    ['the short flag', ['-p', 'w-0-a:2'], [['w-0-a', 2]]],
    ['the short flag with an equals sign', ['-p=w-0-a:2'], [['w-0-a', 2]]],
    ['the short flag with its value attached', ['-pw-0-a:2'], [['w-0-a', 2]]],
    [
      'repeated, in order',
      ['-p', 'b:1', '--podcliques=a:2'],
      [
        ['b', 1],
        ['a', 2],
      ],
    ],
    ['an empty value is ignored', ['--podcliques=', '-p', ' \t '], []],
    ['white space is trimmed everywhere', ['-p', ' a : 3 '], [['a', 3]]],
    ['the last value of the same name wins', ['-p', 'a:3', '-p', 'a:1'], [['a', 1]]],
    ['a sign and leading zeros', ['-p', 'a:+007'], [['a', 7]]],
  ]
  for (const [what, args, parents] of accepted)
    it(`accepts ${what}`, () => assert.deepEqual(parentsOf(...args), parents))

  const rejected: [what: string, args: string[], message: RegExp][] = [
    ['no colon', ['-p', 'a'], /found 1$/],
    ['two colons', ['-p', 'a:1:2'], /found 3$/],
    ['an empty count', ['-p', 'a:'], /count "" is not an integer/],
    ['a text as count', ['-p', 'a:two'], /count "two" is not an integer/],
    ['a fraction', ['-p', 'a:1.5'], /not an integer/],
    ['hexadecimal', ['-p', 'a:0x1'], /not an integer/],
    ['a count beyond all integers', ['-p', 'a:99999999999999999999'], /not an integer/],
    ['a count of 0', ['-p', 'a:0'], /greater than 0/],
    ['a negative count', ['-p', 'a:-1'], /greater than 0/],
    ['an empty name', ['-p', ' :1'], /name of the PodClique is empty/],
    ['a flag without value', ['-p', 'a:1', '--podcliques'], /--podcliques needs a value/],
    ['a misspelt flag', ['--podclique=a:1'], /unknown argument "--podclique=a:1"/],
    ['a bare word', ['a:1'], /unknown argument "a:1"/],
    ['one bad value among good ones', ['-p', 'a:1', '-p', 'b'], /"b"/],
  ]
  for (const [what, args, message] of rejected)
    it(`rejects ${what}`, () => assert.match(errorOf(...args), message))

  it('returns help for --help', () => assert.equal(parseCommandLine(['--help']).task, 'help'))

  it('parses the arguments that the operator writes', () => {
    const name = fc.stringMatching(/^[a-z0-9]([-a-z0-9]{0,20}[a-z0-9])?$/)
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.tuple(name, fc.integer({ min: 1, max: 10_000 })), { selector: ([name]) => name }),
        parents => {
          assert.deepEqual(
            parentsOf(...parents.map(([name, count]) => `--podcliques=${name}:${count}`)),
            parents,
          )
        },
      ),
    )
  })

  it('never throws', () => {
    fc.assert(fc.property(fc.array(fc.string()), args => void parseCommandLine(args)))
  })
})
