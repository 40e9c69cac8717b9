// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { requestMetrics } from './client-metrics.ts'
import { counter, createRegistry, Gauge, gauge, onCollect } from './registry.ts'

describe('createRegistry', () => {
  it('has the metrics of the process', async () => {
    const text = await createRegistry().metrics()
    for (const name of [
      'process_cpu_seconds_total',
      'process_resident_memory_bytes',
      'nodejs_eventloop_lag_seconds',
    ])
      assert.match(text, new RegExp(`^${name} `, 'm'))
  })

  it('returns the same metric for the same name', async () => {
    const registry = createRegistry()
    const make = () =>
      counter(registry, { name: 'things_total', help: 'Things', labelNames: ['of'] as const })
    make().inc({ of: 'a' })
    make().inc({ of: 'a' })
    assert.match(await registry.metrics(), /^things_total\{of="a"\} 2$/m)
  })

  it('runs the callbacks of a gauge on each read, until they are removed', async () => {
    const registry = createRegistry()
    const depth = gauge(registry, { name: 'depth', help: 'Depth', labelNames: ['of'] as const })
    let value = 1
    const stop = onCollect(depth, () => depth.set({ of: 'a' }, value))
    onCollect(depth, () => depth.set({ of: 'b' }, 7))
    await registry.metrics()
    stop()
    value = 2
    const text = await registry.metrics()
    assert.match(text, /^depth\{of="a"\} 1$/m)
    assert.match(text, /^depth\{of="b"\} 7$/m)
    assert.throws(() => onCollect(new Gauge({ name: 'foreign', help: 'x', registers: [] }), () => {}))
  })
})

describe('metrics of the API client', () => {
  it("have client-go's names and labels", async () => {
    const registry = createRegistry()
    const report = requestMetrics(registry, 'https://10.96.0.1:443/')
    const one = { path: '/api/v1/pods', resource: 'pods', seconds: 0.02 }
    report({ ...one, verb: 'create', status: 201, code: 'OK' })
    report({ ...one, verb: 'apply', status: 409, code: 'Conflict' })
    report({ ...one, verb: 'watch', status: 0, code: 'Network' })
    const text = await registry.metrics()
    for (const line of [
      'rest_client_requests_total{code="201",method="POST",host="10.96.0.1"} 1',
      'rest_client_requests_total{code="409",method="PATCH",host="10.96.0.1"} 1',
      'rest_client_requests_total{code="<error>",method="GET",host="10.96.0.1"} 1',
      'rest_client_request_duration_seconds_count{verb="create",resource="pods"} 1',
      'rest_client_resource_requests_total{verb="create",resource="pods",code="201"} 1',
      'rest_client_resource_requests_total{verb="watch",resource="pods",code="<error>"} 1',
    ])
      assert.ok(text.includes(`${line}\n`), line)
    assert.doesNotMatch(text, /rest_client_request_duration_seconds.*verb="watch"/)
  })
})
