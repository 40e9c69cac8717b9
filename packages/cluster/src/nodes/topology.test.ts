// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { nodeOf } from './node.ts'
import { plainNodes, planNodes } from './topology.ts'

const domainsOf = (labels: Readonly<Record<string, string>>) =>
  ['zone', 'block', 'rack'].map(level => labels[`topology.kubernetes.io/${level}`]).join(' ')

describe('a topology', () => {
  it('has domain names that are unique in the cluster', () => {
    const plans = planNodes({ nodes: [{ zones: 2, blocks: 2, racks: 2, hosts: 2, gpus: 8 }] })
    assert.equal(plans.length, 16)
    assert.equal(new Set(plans.map(({ name }) => name)).size, 16)
    assert.equal(domainsOf(plans[0]!.labels), 'zone-0 block-0 rack-0')
    assert.equal(domainsOf(plans[15]!.labels), 'zone-1 block-3 rack-7')
  })

  it('of n nodes has four hosts per rack, four racks per block and four blocks per zone', () => {
    const plans = plainNodes(65)
    assert.equal(domainsOf(plans[63]!.labels), 'zone-0 block-3 rack-15')
    assert.equal(domainsOf(plans[64]!.labels), 'zone-1 block-4 rack-16')
  })

  it('may have node groups of different shapes, and its own labels', () => {
    const plans = planNodes({
      labels: { rack: 'example.com/rack' },
      nodes: [
        { name: 'cpu', count: 2, cpu: '64' },
        { name: 'gpu', hosts: 1, gpus: 4, memory: '1Ti', labels: { tier: 'fast' } },
      ],
    })
    assert.deepEqual(
      plans.map(({ name }) => name),
      ['cpu-0', 'cpu-1', 'gpu-0'],
    )
    const node = nodeOf(plans[2]!, 0)
    assert.equal(node.metadata?.labels?.['example.com/rack'], 'rack-0')
    assert.equal(node.metadata?.labels?.tier, 'fast')
    assert.deepEqual(node.status?.allocatable, {
      cpu: '32',
      memory: '1Ti',
      pods: '110',
      'nvidia.com/gpu': '4',
    })
  })
})
