// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type Deployment, deployments, horizontalPodAutoscalers } from '../kinds.ts'
import { completed, startTestCluster, type TestCluster } from '../testing/test-cluster.ts'
import { SettableMetrics } from './metrics-source.ts'
import { recommendForPods, recommendForShare, recommendForValue } from './recommendation.ts'
import { limitScaling } from './scaling-rules.ts'

const ref = { namespace: 'default', name: 'web' }

describe('the recommendation of a metric', () => {
  const sample = (usage: number | undefined, ready = true) => ({ usage, request: 100, ready })
  const cases = [
    ['more replicas in proportion to a high utilization', [sample(100), sample(100)], { utilization: 50 }, 4],
    [
      'fewer replicas in proportion to a low utilization',
      [sample(20), sample(20), sample(20), sample(20)],
      { utilization: 80 },
      1,
    ],
    ['the same replicas within a tenth of the target', [sample(54), sample(54)], { utilization: 50 }, 2],
    [
      'the same replicas while new pods have no usage',
      [sample(100), sample(0, false)],
      { utilization: 50 },
      2,
    ],
    ['not fewer replicas while metrics are missing', [sample(10), sample(undefined)], { utilization: 50 }, 2],
    ['the replicas for an average amount', [sample(30), sample(50)], { amount: 20 }, 4],
  ] as const
  for (const [text, samples, target, expected] of cases)
    it(text, () => {
      const result = recommendForPods(samples, target, samples.length)
      assert.equal(typeof result === 'string' ? result : result.replicas, expected)
    })

  it('reports missing metrics', () => {
    assert.match(String(recommendForPods([], { utilization: 50 }, 1)), /no pods returned/)
    assert.match(
      String(recommendForPods([sample(undefined)], { utilization: 50 }, 1)),
      /did not receive metrics/,
    )
  })

  it('follows a Value and an AverageValue', () => {
    assert.equal(recommendForValue(300, 100, 2, 2), 6)
    assert.equal(recommendForValue(105, 100, 2, 2), 2)
    assert.equal(recommendForShare(1_000, 100, 4), 10)
    assert.equal(recommendForShare(420, 100, 4), 4)
  })
})

describe('the speed of scaling', () => {
  const spec = { minReplicas: 1, maxReplicas: 50 }
  it('scales up by at most 100 % or four pods in 15 seconds', () => {
    assert.equal(limitScaling({ spec }, 2, 40, [], [], 0).replicas, 6)
    assert.equal(limitScaling({ spec }, 10, 40, [], [], 0).replicas, 20)
    assert.equal(limitScaling({ spec }, 10, 40, [], [{ at: 0, change: 5 }], 10_000).replicas, 10)
    assert.equal(limitScaling({ spec }, 10, 40, [], [{ at: 0, change: 5 }], 15_000).replicas, 20)
  })

  it('scales down to the highest recommendation of the last five minutes', () => {
    const limited = limitScaling({ spec }, 10, 2, [{ at: 0, replicas: 8 }], [], 299_000)
    assert.equal(limited.replicas, 8)
    assert.equal(limited.ableToScale.reason, 'ScaleDownStabilized')
    assert.equal(limitScaling({ spec }, 10, 2, [{ at: 0, replicas: 8 }], [], 300_000).replicas, 2)
  })

  it('stays within its limits, and reports when they apply', () => {
    assert.equal(
      limitScaling({ spec: { minReplicas: 3, maxReplicas: 5 } }, 4, 1, [], [], 0).scalingLimited.reason,
      'TooFewReplicas',
    )
    assert.equal(
      limitScaling({ spec: { minReplicas: 3, maxReplicas: 5 } }, 4, 9, [], [], 0).scalingLimited.reason,
      'TooManyReplicas',
    )
    const down = { policies: [{ type: 'Pods', value: 1, periodSeconds: 60 }], stabilizationWindowSeconds: 0 }
    const limited = limitScaling({ spec: { ...spec, behavior: { scaleDown: down } } }, 10, 2, [], [], 0)
    assert.deepEqual([limited.replicas, limited.scalingLimited.reason], [9, 'ScaleDownLimit'])
  })
})

describe('an autoscaler', () => {
  async function start(metrics: SettableMetrics, metricSpecs: object[]): Promise<TestCluster> {
    const cluster = await startTestCluster({ nodes: 4, autoscaler: { metrics } })
    const containers = [{ name: 'c', image: 'i', resources: { requests: { cpu: '200m' } } }]
    const labels = { app: 'web' }
    const deployment: Deployment = {
      metadata: ref,
      spec: {
        replicas: 2,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers } },
      },
    }
    await completed(cluster.clock, cluster.client.create(deployments, deployment))
    await cluster.clock.advance(2_000)
    const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }
    const spec = { scaleTargetRef, minReplicas: 1, maxReplicas: 8, metrics: metricSpecs }
    await completed(cluster.clock, cluster.client.create(horizontalPodAutoscalers, { metadata: ref, spec }))
    return cluster
  }
  const look = async (cluster: TestCluster) => {
    const autoscaler = await completed(cluster.clock, cluster.client.get(horizontalPodAutoscalers, ref))
    const deployment = await completed(cluster.clock, cluster.client.get(deployments, ref))
    const conditions = Object.fromEntries(
      (autoscaler.status?.conditions ?? []).map(({ type, status, reason }) => [type, `${status} ${reason}`]),
    )
    return { status: autoscaler.status, replicas: deployment.spec?.replicas, conditions }
  }

  it('scales up on cpu usage at once, and down after the stabilization window', async () => {
    const metrics = new SettableMetrics()
    const cpu = {
      type: 'Resource',
      resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } },
    }
    await using cluster = await start(metrics, [cpu])
    await cluster.clock.advance(1_000)
    assert.match((await look(cluster)).conditions.ScalingActive ?? '', /^False FailedGetResourceMetric/)
    metrics.setUsage(ref, 'cpu', '150m')
    await cluster.clock.advance(16_000)
    const up = await look(cluster)
    assert.equal(up.replicas, 3)
    assert.deepEqual(up.conditions, {
      AbleToScale: 'True SucceededRescale',
      ScalingActive: 'True ValidMetricFound',
      ScalingLimited: 'False DesiredWithinRange',
      ScaledToZero: 'False NotScaledToZero',
    })
    assert.deepEqual(up.status?.currentMetrics?.[0]?.resource?.current, {
      averageValue: '150m',
      averageUtilization: 75,
    })
    metrics.setUsage(ref, 'cpu', '20m')
    await cluster.clock.advance(120_000)
    // The usage per pod is constant here, so the recommendation stayed high until the annotation changed.
    const held = await look(cluster)
    assert.match(held.conditions.AbleToScale ?? '', /ScaleDownStabilized/)
    await cluster.clock.advance(400_000)
    assert.equal((await look(cluster)).replicas, 1)
  })

  it('uses the highest recommendation of several metrics, up to its maximum', async () => {
    const metrics = new SettableMetrics()
    const external = (name: string) => ({
      type: 'External',
      external: { metric: { name }, target: { type: 'AverageValue', averageValue: '10' } },
    })
    await using cluster = await start(metrics, [external('queue'), external('lag')])
    metrics.setMetric(ref, 'queue', '30')
    metrics.setMetric(ref, 'lag', '500')
    await cluster.clock.advance(60_000)
    const { replicas, conditions } = await look(cluster)
    assert.equal(replicas, 8)
    assert.equal(conditions.ScalingLimited, 'True TooManyReplicas')
  })

  it('reports that its target does not exist', async () => {
    await using cluster = await startTestCluster()
    const spec = {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
      maxReplicas: 3,
    }
    await completed(cluster.clock, cluster.client.create(horizontalPodAutoscalers, { metadata: ref, spec }))
    await cluster.clock.advance(100)
    const autoscaler = await completed(cluster.clock, cluster.client.get(horizontalPodAutoscalers, ref))
    assert.equal(autoscaler.status?.conditions?.[0]?.reason, 'FailedGetScale')
  })
})
