// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { configurationWith, sampleSet } from '../testing/sample-sets.ts'
import { clusterNeeds } from './cluster-needs.ts'

const constrained = sampleSet({ topologyConstraint: { topologyName: 'site', pack: { required: 'rack' } } })

test('a topology is looked up if constraints name one and are allowed', () => {
  assert.deepEqual(clusterNeeds(constrained, configurationWith({ topology: true })).topologyBindings, [
    'site',
  ])
  assert.deepEqual(clusterNeeds(constrained, configurationWith()).topologyBindings, [])
  assert.deepEqual(clusterNeeds(sampleSet(), configurationWith({ topology: true })).topologyBindings, [])
})

test('a queue is looked up if Volcano schedules the set', () => {
  const set = sampleSet({}, { annotations: { 'scheduling.grove.io/volcano-queue': ' batch ' } })
  const volcano = configurationWith({ schedulers: ['volcano'] })
  assert.deepEqual(clusterNeeds(set, volcano).volcanoQueues, ['batch'])
  assert.deepEqual(clusterNeeds(sampleSet(), volcano).volcanoQueues, ['default'])
  assert.deepEqual(clusterNeeds(set, configurationWith()).volcanoQueues, [])
})

test('nothing is looked up for an object that cannot be decoded', () => {
  for (const object of [null, 3, { spec: 'x' }]) {
    assert.deepEqual(clusterNeeds(object, configurationWith({ topology: true })), {
      topologyBindings: [],
      volcanoQueues: [],
    })
  }
})
