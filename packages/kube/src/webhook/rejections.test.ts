// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createRegistry } from '../metrics/index.ts'
import { RejectionMetrics } from './rejections.ts'

async function countsAfter(use: (metrics: RejectionMetrics) => void): Promise<Record<string, number>> {
  const registry = createRegistry()
  use(new RejectionMetrics(registry))
  const lines = (await registry.metrics())
    .split('\n')
    .filter(line => line.startsWith('webhook_rejections_total{'))
  return Object.fromEntries(
    lines.map(line => {
      const [, rule = '', value] = /rule="(.*)"\} (\d+)$/.exec(line) ?? []
      return [rule, Number(value)]
    }),
  )
}

describe('counts of rejections', () => {
  test('count each broken rule once per request', async () => {
    const counts = await countsAfter(metrics => {
      metrics.count('/validate', {
        allowed: false,
        rules: ['Required value spec.a', 'Required value spec.a', 'Invalid value spec.b'],
      })
      metrics.count('/validate', { allowed: false, rules: ['Invalid value spec.b'] })
    })
    assert.deepEqual(counts, { 'Required value spec.a': 1, 'Invalid value spec.b': 2 })
  })

  test('do not count allowed requests', async () => {
    assert.deepEqual(await countsAfter(metrics => metrics.count('/validate', { allowed: true })), {})
  })

  test('count requests that could not be decided', async () => {
    assert.deepEqual(await countsAfter(metrics => metrics.count('/validate', { allowed: false })), {
      Undecided: 1,
    })
  })

  test('have a bounded number of rules', async () => {
    const counts = await countsAfter(metrics => {
      for (let index = 0; index < 1_000; index++)
        metrics.count('/validate', { allowed: false, rules: [`Invalid value spec.field${index}`] })
    })
    assert.equal(Object.keys(counts).length, 201)
    assert.equal(counts.Other, 800)
  })
})
