// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clique, sampleSet } from '../testing/sample-set.ts'
import { asScaled, wantedAutoscalers, wantedCliques } from './children.ts'

const web = clique('web', { replicas: 2 })
const set = sampleSet({
  cliques: [
    { ...web, spec: { ...web.spec, autoScalingConfig: { minReplicas: 2, maxReplicas: 9 } } },
    clique('other'),
  ],
})
const replicasWith = (desiredReplicas: number | undefined) =>
  asScaled(
    wantedCliques(set, {}),
    wantedAutoscalers(set).map(one => ({
      ...one,
      ...(desiredReplicas !== undefined && { status: { desiredReplicas, currentReplicas: 2 } }),
    })),
  ).map(({ spec }) => spec.replicas)

test('a clique is made with as many pods as its autoscaler wants, or as the template says', () => {
  assert.deepEqual(replicasWith(7), [7, 1])
  assert.deepEqual(replicasWith(0), [2, 1])
  assert.deepEqual(replicasWith(undefined), [2, 1])
})
