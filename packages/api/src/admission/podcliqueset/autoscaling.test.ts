// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clique, errorsOf, sampleSet } from '../../testing/sample-sets.ts'

const field = 'spec.template.cliques[0].spec.autoScalingConfig'
const belowMinAvailable = 'must be greater than or equal to podCliqueSpec.minAvailable'
const belowMinReplicas = 'must be greater than or equal to podCliqueSpec.minReplicas'
const belowReplicas = 'must be greater than or equal to replicas'

// replicas 4, minAvailable 2 throughout
const cases: [minReplicas: number, maxReplicas: number, expected: string[]][] = [
  [2, 4, []],
  [6, 6, []],
  [1, 4, [`minReplicas: Invalid value: 1: ${belowMinAvailable}`]],
  [3, 3, [`maxReplicas: Invalid value: 3: ${belowReplicas}`]],
  [6, 5, [`maxReplicas: Invalid value: 5: ${belowMinReplicas}`]],
  [
    0,
    -1,
    [
      `minReplicas: Invalid value: 0: ${belowMinAvailable}`,
      `maxReplicas: Invalid value: -1: ${belowMinReplicas}`,
      `maxReplicas: Invalid value: -1: ${belowReplicas}`,
    ],
  ],
]

for (const [minReplicas, maxReplicas, expected] of cases) {
  test(`a clique with 4 replicas and minAvailable 2, scaled between ${minReplicas} and ${maxReplicas}`, () => {
    const spec = { replicas: 4, minAvailable: 2, autoScalingConfig: { minReplicas, maxReplicas } }
    assert.deepEqual(
      errorsOf(sampleSet({ cliques: [clique('web', spec)] })),
      expected.map(text => `${field}.${text}`),
    )
  })
}

test('contradictory metrics are rejected, omissions are not', () => {
  const validate = (metric: object): string[] =>
    errorsOf(
      sampleSet({
        cliques: [
          clique('web', { autoScalingConfig: { maxReplicas: 4, metrics: [metric as { type: string }] } }),
        ],
      }),
    )
  assert.deepEqual(validate({ type: 'Resource', resource: { name: '', target: { type: '' } } }), [])
  assert.deepEqual(validate({ type: '' }), [])
  assert.deepEqual(validate({ type: 'Nonsense' }), [
    `${field}.metrics[0].type: Unsupported value: "Nonsense": supported values: "Resource", "ContainerResource", "Pods", "Object", "External"`,
  ])
  assert.deepEqual(validate({ type: 'Pods' }), [
    `${field}.metrics[0].pods: Required value: is required for a metric of type Pods`,
  ])
})
