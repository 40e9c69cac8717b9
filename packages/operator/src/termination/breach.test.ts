// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { conditionType, type PodCliqueScalingGroup } from '@grove/api'
import { clique, sampleSet } from '../testing/sample-set.ts'
import { groupBreach, terminationDelayMs } from './breach.ts'

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

const { minAvailableBreached, everHealthy, gangTerminationInProgress } = conditionType

for (const [name, conditions, isBreach] of [
  ['that was healthy is in breach', { [minAvailableBreached]: 'True', [everHealthy]: 'True' }, true],
  ['that was never healthy is not in breach', { [minAvailableBreached]: 'True' }, false],
  [
    'whose replica was terminated is not in breach before it has recovered',
    { [minAvailableBreached]: 'True', [everHealthy]: 'True', [gangTerminationInProgress]: 'True' },
    false,
  ],
  [
    'that has recovered from a termination is in breach again',
    { [minAvailableBreached]: 'True', [everHealthy]: 'True', [gangTerminationInProgress]: 'False' },
    true,
  ],
  [
    'with an unknown minimum is not in breach',
    { [minAvailableBreached]: 'Unknown', [everHealthy]: 'True' },
    false,
  ],
] as const)
  test(`a scaling group ${name}`, () => {
    const since = '2026-01-01T00:00:00Z'
    const group = {
      metadata: { name: 'w-0-g' },
      status: {
        conditions: Object.entries(conditions).map(([type, status]) => ({
          type,
          status,
          reason: 'InsufficientPods',
          message: 'too few',
          lastTransitionTime: since,
        })),
      },
    } as unknown as PodCliqueScalingGroup
    const breach = isBreach
      ? {
          since: Date.parse(since),
          reason: 'InsufficientPods',
          because: 'PodCliqueScalingGroup w-0-g: too few',
        }
      : undefined
    assert.deepEqual(groupBreach(group), breach)
  })
