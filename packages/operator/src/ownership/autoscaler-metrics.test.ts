// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sameMetrics } from './autoscaler-metrics.ts'

const queue = (averageValue: string | number, name = 'queue') => [
  { type: 'External', external: { metric: { name }, target: { type: 'AverageValue', averageValue } } },
]

test('compares quantities by value, not by notation', () => {
  assert.ok(sameMetrics(queue(5) as never, queue('5') as never))
  assert.ok(sameMetrics(queue('5000m') as never, queue('5') as never))
  assert.ok(sameMetrics(queue('0.5') as never, queue('500m') as never))
  assert.ok(!sameMetrics(queue('5') as never, queue('6') as never))
  assert.ok(!sameMetrics(queue('5') as never, queue('5', 'other') as never))
  assert.ok(!sameMetrics(queue('5') as never, [...queue('5'), ...queue('5')] as never))
})
