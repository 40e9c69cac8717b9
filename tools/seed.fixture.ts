// SPDX-License-Identifier: Apache-2.0

// A test file that prints the values that fast-check generates.
import { test } from 'node:test'
import fc from 'fast-check'

test('property', () => {
  const values: number[] = []
  fc.assert(
    fc.property(fc.integer(), value => void values.push(value)),
    { numRuns: 5 },
  )
  console.log(`values: ${values}`)
})
