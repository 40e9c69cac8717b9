// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clique, sampleSet } from '../testing/sample-set.ts'
import { terminationDelayMs } from './breach.ts'

const hour = 3_600_000

for (const [delay, ms] of [
  [undefined, 4 * hour],
  ['4h0m0s', 4 * hour],
  ['1h30m', 1.5 * hour],
  ['1500ms', 1_500],
  ['', 4 * hour],
  ['soon', 4 * hour],
] as const)
  test(`a termination delay of ${delay ?? 'nothing'} is ${ms} ms`, () => {
    const template = delay === undefined ? {} : { terminationDelay: delay }
    assert.equal(terminationDelayMs(sampleSet({ cliques: [clique('a')], template })), ms)
  })
