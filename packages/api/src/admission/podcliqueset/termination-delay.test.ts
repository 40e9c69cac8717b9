// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { errorsOf, sampleSet } from '../../testing/sample-sets.ts'

const cases: [delay: string, shown: string | undefined][] = [
  ['4h', undefined],
  ['1ns', undefined],
  ['1h30m', undefined],
  ['0', '0s'],
  ['0h', '0s'],
  ['-90m', '-1h30m0s'],
]

for (const [terminationDelay, shown] of cases) {
  test(`a termination delay of ${terminationDelay} is ${shown ? 'rejected' : 'accepted'}`, () => {
    assert.deepEqual(
      errorsOf(sampleSet({ terminationDelay })),
      shown
        ? [
            `spec.template.terminationDelay: Invalid value: "${shown}": terminationDelay must be greater than 0`,
          ]
        : [],
    )
  })
}
