// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ClusterTopologyBinding, SchedulerTopologyBinding } from '@grove/api'
import { planBindingStatus, type TopologyResult } from './plan.ts'

function binding(
  bindings: SchedulerTopologyBinding[] = [],
  status?: ClusterTopologyBinding['status'],
): ClusterTopologyBinding {
  return {
    apiVersion: 'grove.io/v1alpha1',
    kind: 'ClusterTopologyBinding',
    metadata: { name: 'fabric', generation: 3 },
    spec: { levels: [{ domain: 'rack', key: 'example.com/rack' }], schedulerTopologyBindings: bindings },
    ...(status && { status }),
  }
}

const result = (inSync: boolean, failed = false): TopologyResult => ({
  entry: { schedulerName: 'kai-scheduler', topologyReference: 'fabric', inSync },
  failed,
})
const plan = (of: ClusterTopologyBinding, results: TopologyResult[]) =>
  planBindingStatus({
    binding: of,
    results,
    available: new Set(['kai-scheduler']),
    now: '2030-01-01T00:00:00Z',
  })
const drift = ({ status }: ReturnType<typeof plan>) => {
  const condition = status.conditions?.find(one => one.type === 'SchedulerTopologyDrift')
  return condition && [condition.status, condition.reason, condition.observedGeneration]
}

test('in sync: emits one event', () => {
  const first = plan(binding(), [result(true)])
  assert.deepEqual(drift(first), ['False', 'InSync', 3])
  assert.deepEqual(
    first.events.map(event => event.reason),
    ['TopologyInSync'],
  )
  assert.deepEqual(plan(binding([], first.status), [result(true)]).events, [])
})

test('reports a topology that differs as drift', () => {
  const drifted = plan(binding(), [result(false)])
  assert.deepEqual(drift(drifted), ['True', 'Drift', 3])
  assert.deepEqual(
    drifted.events.map(event => event.reason),
    ['TopologyDriftDetected'],
  )
})

test('a binding for a missing scheduler is Unknown, whatever the state of the others', () => {
  const unknown = plan(binding([{ schedulerName: 'volcano', topologyReference: 'x' }]), [result(true)])
  assert.deepEqual(drift(unknown), ['Unknown', 'TopologyNotFound', 3])
  assert.match(unknown.status.schedulerTopologyStatuses![1]!.message!, /"volcano" is not available/)
  assert.deepEqual(unknown.events, [])
})

test('sets observedGeneration only if every scheduler could be reached', () => {
  assert.equal(plan(binding(), [result(false, true)]).status.observedGeneration, undefined)
  assert.equal(plan(binding(), [result(true)]).status.observedGeneration, 3)
})

test('without schedulers that support topologies the status is empty', () => {
  assert.equal(drift(plan(binding(), [])), undefined)
})
