// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { chapter } from '../suite.ts'

const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' }
const second = 'autoscaling/v2'
const first = 'autoscaling/v1'
const plural = 'horizontalpodautoscalers'
const utilization = (averageUtilization: number) => ({
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } },
})
const prefix = 'autoscaling.alpha.kubernetes.io/'

export const autoscalers = chapter('autoscalers', {
  'minReplicas 0 is valid with an external metric': async ({ http, group }) => {
    const external = { metric: { name: 'queue' }, target: { type: 'Value', value: '5' } }
    const made = await http.post(group(second, plural), {
      metadata: { name: 'a' },
      spec: { scaleTargetRef, minReplicas: 0, maxReplicas: 3, metrics: [{ type: 'External', external }] },
    })
    assert.equal(made.status, 201)
    assert.equal(made.at('spec.minReplicas'), 0)
  },
  'the counts of the status cannot be negative': async ({ http, group }) => {
    await http.post(group(second, plural), {
      metadata: { name: 'a' },
      spec: { scaleTargetRef, maxReplicas: 3 },
    })
    const rejected = await http.mergePatch(group(second, `${plural}/a/status`), {
      status: { currentReplicas: -1, desiredReplicas: 2 },
    })
    assert.match(
      rejected.text('message'),
      /is invalid: status\.currentReplicas: Invalid value: -1: must be greater than or equal to 0$/,
    )
  },
  'autoscaling/v1 has only the CPU target': async ({ http, group }) => {
    const made = await http.post(group(first, plural), {
      metadata: { name: 'a' },
      spec: { scaleTargetRef, maxReplicas: 3, targetCPUUtilizationPercentage: 50 },
    })
    assert.equal(made.status, 201)
    assert.deepEqual(made.at('spec'), {
      scaleTargetRef,
      minReplicas: 1,
      maxReplicas: 3,
      targetCPUUtilizationPercentage: 50,
    })
    assert.deepEqual(made.at('status'), { currentReplicas: 0, desiredReplicas: 0 })
    const seen = await http.get(group(second, `${plural}/a`))
    assert.deepEqual(seen.at('spec.metrics'), [utilization(50)])
    await http.mergePatch(group(first, `${plural}/a`), { spec: { targetCPUUtilizationPercentage: 60 } })
    const changed = await http.get(group(second, `${plural}/a`))
    assert.deepEqual(changed.at('spec.metrics'), [utilization(60)])
    assert.equal(changed.at('metadata.generation'), 2)
  },
  'autoscaling/v1 defaults to a CPU target': async ({ http, group }) => {
    const made = await http.post(group(first, plural), {
      metadata: { name: 'a' },
      spec: { scaleTargetRef, maxReplicas: 3 },
    })
    assert.equal(made.at('spec.targetCPUUtilizationPercentage'), 80)
  },
  'autoscaling/v1 stores other metrics in annotations and preserves them': async ({ http, group }) => {
    const pods = { metric: { name: 'q' }, target: { type: 'AverageValue', averageValue: '2' } }
    const made = await http.post(group(second, plural), {
      metadata: { name: 'a' },
      spec: {
        scaleTargetRef,
        maxReplicas: 3,
        metrics: [{ type: 'Pods', pods }],
        behavior: { scaleUp: { stabilizationWindowSeconds: 3 } },
      },
    })
    const old = await http.get(group(first, `${plural}/a`))
    assert.equal(old.at('spec.targetCPUUtilizationPercentage'), undefined)
    assert.equal(
      old.at('metadata', 'annotations', `${prefix}metrics`),
      '[{"type":"Pods","pods":{"metricName":"q","targetAverageValue":"2"}}]',
    )
    assert.match(
      old.text('metadata', 'annotations', `${prefix}behavior`),
      /^{"ScaleUp":{"StabilizationWindowSeconds":3,"SelectPolicy":"Max",/,
    )
    await http.mergePatch(group(first, `${plural}/a`), { spec: { maxReplicas: 7 } })
    const after = await http.get(group(second, `${plural}/a`))
    assert.equal(after.at('spec.maxReplicas'), 7)
    assert.deepEqual(after.at('spec.metrics'), made.at('spec.metrics'))
    assert.deepEqual(after.at('spec.behavior'), made.at('spec.behavior'))
    assert.equal(after.at('metadata.annotations'), undefined)
  },
  'the status is converted between autoscaling/v1 and v2': async ({ http, group }) => {
    await http.post(group(second, plural), {
      metadata: { name: 'a' },
      spec: { scaleTargetRef, maxReplicas: 3 },
    })
    await http.mergePatch(group(second, `${plural}/a/status`), {
      status: {
        currentReplicas: 2,
        desiredReplicas: 3,
        conditions: [{ type: 'AbleToScale', status: 'True', reason: 'R', message: 'M' }],
        currentMetrics: [
          {
            type: 'Resource',
            resource: { name: 'cpu', current: { averageUtilization: 30, averageValue: '10m' } },
          },
        ],
      },
    })
    const old = await http.get(group(first, `${plural}/a`))
    assert.equal(old.at('status.currentCPUUtilizationPercentage'), 30)
    assert.equal(
      old.at('metadata', 'annotations', `${prefix}current-metrics`),
      '[{"type":"Resource","resource":{"name":"cpu","currentAverageUtilization":30,"currentAverageValue":"10m"}}]',
    )
    // A client that removes the annotations does not change the status.
    await http.mergePatch(group(first, `${plural}/a`), { metadata: { annotations: null } })
    const after = await http.get(group(second, `${plural}/a`))
    assert.equal(after.at('status.conditions.0.reason'), 'R')
    assert.equal(after.at('status.currentMetrics.0.resource.current.averageValue'), '10m')
  },
})
