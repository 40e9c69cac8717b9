// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { fieldError, renderFieldErrors } from '@grove/apimachinery'
import { messageLimits, rejectionMessage, shortenedWarnings } from './long-texts.ts'

const errors = (count: number, detail: string) =>
  Array.from({ length: count }, (_, index) => fieldError.invalid(`spec.list[${index}]`, index, detail))

describe('the message of a rejection', () => {
  test('is the text that Kubernetes prints, if it is short', () => {
    for (const count of [1, 2, 100])
      assert.equal(rejectionMessage(errors(count, 'is wrong')), renderFieldErrors(errors(count, 'is wrong')))
  })

  test('contains equal errors once, wherever they occur', () => {
    const [one, other] = errors(2, 'is wrong')
    const many = Array.from({ length: 1000 }, () => [one!, other!, one!]).flat()
    assert.equal(rejectionMessage(many), renderFieldErrors([one!, other!]))
  })

  test('contains a bounded number of errors and the number of the others', () => {
    const message = rejectionMessage(errors(700, 'x'))
    assert.ok(message.endsWith(', <nil>: Invalid value: and 200 more errors]'), message.slice(-100))
  })

  test('is bounded in length and contains the number of errors that do not fit', () => {
    const message = rejectionMessage(errors(50, 'x'.repeat(9000)))
    assert.ok(message.length <= messageLimits.message, `${message.length}`)
    const shown = message.split('spec.list').length - 1
    assert.ok(message.endsWith(`and ${50 - shown} more errors]`))
  })

  test('is bounded for one error whose value grows when it is quoted', () => {
    const message = rejectionMessage([fieldError.invalid('spec', '\u{10ffff}'.repeat(100_000), 'is wrong')])
    assert.ok(message.length <= messageLimits.message + 100, `${message.length}`)
    assert.match(message, /^spec: Invalid value: "\\U0010ffff/)
  })
})

test('warnings are bounded in number and length', () => {
  const warnings = Array.from({ length: 150 }, (_, index) => `${index} ${'x'.repeat(2000)}`)
  const shown = shortenedWarnings([...warnings, ...warnings])
  assert.equal(shown.length, 101)
  assert.equal(shown.at(-1), 'and 50 more warnings')
  for (const warning of shown) assert.ok(warning.length <= messageLimits.warning + 100)
})
