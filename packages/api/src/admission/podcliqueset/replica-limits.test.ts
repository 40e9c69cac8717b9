// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defaultConfiguration } from '../../configuration/index.ts'
import { sampleSet, validateNew, validateUpdate } from '../../testing/sample-sets.ts'
import { replicaLimitWarnings } from './replica-limits.ts'

const { limits } = defaultConfiguration()
const withReplicas = (replicas: number) => sampleSet({}, {}, { replicas })

test('admission warns about a replica count above its limit if it is new or has grown', () => {
  const warnings = (now: number, before?: number) =>
    replicaLimitWarnings(withReplicas(now), before === undefined ? undefined : withReplicas(before), limits)
      .length
  assert.equal(warnings(10_000), 0)
  assert.equal(warnings(10_001), 1)
  assert.equal(warnings(2_147_483_647, 3), 1)
  assert.equal(warnings(20_000, 20_000), 0)
  assert.equal(warnings(15_000, 20_000), 0)
  assert.equal(warnings(20_001, 20_000), 1)
})

test('sets above a limit are accepted, because such sets may be stored already', () => {
  const small = withReplicas(1)
  const large = withReplicas(10_001)
  for (const { errors, warnings } of [validateNew(large), validateUpdate(large, small)]) {
    assert.deepEqual(errors, [])
    assert.match(warnings.join(), /spec.replicas is 10001, which exceeds the limit of 10000/)
  }
  assert.doesNotMatch(validateUpdate(large, large).warnings.join(), /exceeds the limit/)
})

test('admission returns a bounded number of warnings', () => {
  const set = sampleSet()
  const [clique] = set.spec.template.cliques
  const cliques = Array.from({ length: 1_000 }, (_, index) => ({
    ...clique!,
    name: `c${index}`,
    spec: { ...clique!.spec, replicas: 2_147_483_647 },
  }))
  const large = { ...set, spec: { ...set.spec, template: { ...set.spec.template, cliques } } }
  assert.equal(replicaLimitWarnings(large, undefined, limits).length, 5)
})
