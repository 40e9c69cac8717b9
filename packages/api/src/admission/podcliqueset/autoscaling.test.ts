// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clique, refusals, sampleSet } from '../sample-sets.ts'

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
  test(`a clique of 4, at least 2, scaled between ${minReplicas} and ${maxReplicas}`, () => {
    const spec = { replicas: 4, minAvailable: 2, autoScalingConfig: { minReplicas, maxReplicas } }
    assert.deepEqual(
      refusals(sampleSet({ cliques: [clique('web', spec)] })),
      expected.map(text => `${field}.${text}`),
    )
  })
}

test('metrics that no autoscaler could be made from are refused, omissions are not', () => {
  const judge = (metric: object): string[] =>
    refusals(
      sampleSet({
        cliques: [
          clique('web', { autoScalingConfig: { maxReplicas: 4, metrics: [metric as { type: string }] } }),
        ],
      }),
    )
  assert.deepEqual(judge({ type: 'Resource', resource: { name: '', target: { type: '' } } }), [])
  assert.deepEqual(judge({ type: '' }), [])
  assert.deepEqual(judge({ type: 'Nonsense' }), [
    `${field}.metrics[0].type: Unsupported value: "Nonsense": supported values: "Resource", "ContainerResource", "Pods", "Object", "External"`,
  ])
  assert.deepEqual(judge({ type: 'Pods' }), [
    `${field}.metrics[0].pods: Required value: must be given for a metric of type Pods`,
  ])
})
