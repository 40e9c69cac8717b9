// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nodeObject, nodeSpecs, topologyLabels } from './nodes.ts'

test('nodes fill the racks, blocks and zones in order', () => {
  const topology = { nodesPerRack: 2, racksPerBlock: 2, blocksPerZone: 2 }
  const places = nodeSpecs(9, { topology }).map(({ labels }) =>
    [topologyLabels.zone, topologyLabels.block, topologyLabels.rack]
      .map(key => labels?.[key]?.split('-')[1])
      .join(''),
  )
  assert.deepEqual(places, ['000', '000', '001', '001', '012', '012', '013', '013', '124'])
})

test('later nodes continue after the first ones', () => {
  assert.deepEqual([...nodeSpecs(2), ...nodeSpecs(3, {}, 2)], nodeSpecs(5))
})

test('a node is managed by KWOK, has a loopback address, and has no GPU by default', () => {
  const [plain, gpu] = [nodeObject(nodeSpecs(1)[0]!), nodeObject(nodeSpecs(1, { gpus: 8 })[0]!)]
  assert.equal(plain.metadata.annotations['kwok.x-k8s.io/node'], 'fake')
  assert.equal(plain.metadata.labels[topologyLabels.hostname], 'node-000')
  assert.deepEqual(
    plain.status.addresses.map(({ address }) => address),
    ['127.0.0.1', 'node-000'],
  )
  assert.ok(!('nvidia.com/gpu' in plain.status.capacity))
  assert.deepEqual(gpu.status.allocatable, { ...plain.status.allocatable, 'nvidia.com/gpu': '8' })
})

test('values of a spec override the defaults', () => {
  const node = nodeObject({
    name: 'a',
    labels: { type: 'mine' },
    capacity: { cpu: '2' },
    taints: [{ key: 'k', effect: 'NoSchedule' }],
  })
  assert.equal(node.metadata.labels.type, 'mine')
  assert.equal(node.status.capacity.cpu, '2')
  assert.deepEqual(node.spec, { taints: [{ key: 'k', effect: 'NoSchedule' }] })
})
