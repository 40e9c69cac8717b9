// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { errorsOf, sampleSet, updateErrorsOf } from '../../testing/sample-sets.ts'
import type { PodCliqueSetUpdateStrategy } from '../../types/index.ts'

const withStrategy = (updateStrategy: PodCliqueSetUpdateStrategy) => sampleSet({}, {}, { updateStrategy })

const neither =
  'maxUnavailable: Invalid value: 0: must be greater than or equal to 1, unless maxSurge is greater than 0'

const cases: [strategy: PodCliqueSetUpdateStrategy, error: string | undefined][] = [
  [{}, undefined],
  [{ paused: true }, undefined],
  [{ partition: 0, maxUnavailable: 1, progressDeadlineSeconds: 1 }, undefined],
  [{ type: 'OnDelete', partition: 2, maxUnavailable: 3 }, undefined],
  [{ partition: 99, maxUnavailable: 99 }, undefined],
  [{ partition: -1 }, 'partition: Invalid value: -1: must be greater than or equal to 0'],
  [{ maxSurge: 0 }, undefined],
  [{ maxSurge: 1, maxUnavailable: 0 }, undefined],
  [{ maxSurge: -1 }, 'maxSurge: Invalid value: -1: must be greater than or equal to 0'],
  [{ maxUnavailable: 0 }, neither],
  [{ maxUnavailable: 0, maxSurge: 0 }, neither],
  [
    { maxUnavailable: -1, maxSurge: 1 },
    'maxUnavailable: Invalid value: -1: must be greater than or equal to 0',
  ],
  [
    { progressDeadlineSeconds: 0 },
    'progressDeadlineSeconds: Invalid value: 0: must be greater than or equal to 1',
  ],
]

for (const [strategy, error] of cases) {
  test(`the update strategy ${JSON.stringify(strategy)} is ${error ? 'rejected' : 'accepted'}`, () => {
    const expected = error ? [`spec.updateStrategy.${error}`] : []
    assert.deepEqual(errorsOf(withStrategy(strategy)), expected)
    assert.deepEqual(updateErrorsOf(withStrategy(strategy), sampleSet()), expected)
  })
}
