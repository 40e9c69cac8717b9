// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { podRequests, qualityOfService } from './resources.ts'

describe('the requests of a pod', () => {
  it('are the sum of its containers, or its largest init container, with sidecars in both', () => {
    const container = (cpu: string, more = {}) => ({ name: 'c', resources: { requests: { cpu } }, ...more })
    const spec = {
      containers: [container('100m'), container('200m')],
      initContainers: [container('1'), container('50m', { restartPolicy: 'Always' }), container('900m')],
    }
    assert.equal(podRequests(spec).get('cpu'), 1_000)
    assert.equal(podRequests({ ...spec, initContainers: spec.initContainers.slice(1) }).get('cpu'), 950)
    assert.equal(podRequests({ ...spec, overhead: { cpu: '1' } }).get('cpu'), 2_000)
  })

  it('determine its QoS class', () => {
    const spec = (resources: object) => ({ containers: [{ name: 'c', resources }] })
    assert.equal(qualityOfService(spec({})), 'BestEffort')
    assert.equal(qualityOfService(spec({ requests: { cpu: '1' } })), 'Burstable')
    assert.equal(qualityOfService(spec({ limits: { cpu: '1', memory: '1Gi' } })), 'Guaranteed')
    assert.equal(
      qualityOfService(spec({ requests: { cpu: '1' }, limits: { cpu: '2', memory: '1Gi' } })),
      'Burstable',
    )
  })
})
