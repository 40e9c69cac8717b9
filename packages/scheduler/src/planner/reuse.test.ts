// SPDX-License-Identifier: Apache-2.0
import { deepEqual, equal } from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Pod } from '@grove/api'
import { FormerNodes } from '../binder/former-nodes.ts'
import { defaultPolicy, plan, snapshotFrom } from '../index.ts'
import { gpu, memberPod, node, podGang, topologyBinding } from '../testing/objects.ts'
import type { SnapshotObjects } from '../types.ts'

const policy = { ...defaultPolicy, fixes: false }
const binding = topologyBinding('fabric', { rack: 'rack', host: 'kubernetes.io/hostname' })
const nodes = ['r0', 'r1', 'r2'].flatMap(rack =>
  ['a', 'b', 'c'].map(name => node(`${rack}-${name}`, { [gpu]: '8' }, { labels: { rack } })),
)
const one = { [gpu]: '8' }

function places(objects: SnapshotObjects, former: readonly string[] = []): string[] {
  const formerNodes = new Map([['default/g', former]])
  return plan(snapshotFrom(objects, { formerNodes }), policy, 0)
    .bindings.map(bound => bound.node)
    .sort()
}

function waiting(count: number, options: Parameters<typeof podGang>[2] = {}): SnapshotObjects {
  const pods = Array.from({ length: count }, (_, i) => memberPod('g', 'c', i, one))
  const podGangs = [podGang('g', [{ name: 'c', min: count }], { topology: 'fabric', ...options })]
  return { nodes, pods, podGangs, topologyBindings: [binding] }
}

describe('a gang with former nodes', () => {
  test('returns to its nodes if the score is equal', () => {
    deepEqual(places(waiting(1)), ['r0-a'])
    deepEqual(places(waiting(1), ['r2-b']), ['r2-b'])
    deepEqual(places(waiting(2), ['r2-b', 'r1-c']), ['r1-c', 'r2-b'])
  })
  test('returns to its rack if one of its nodes is in use', () => {
    const objects = waiting(1)
    const taken = memberPod('other', 'o', 0, one, { node: 'r2-b' })
    deepEqual(places({ ...objects, pods: [...objects.pods, taken] }, ['r2-b']), ['r2-a'])
  })
  test('prefers a better score to its former nodes', () => {
    deepEqual(places(waiting(2, { preferred: 'rack' }), ['r1-a', 'r2-a']), ['r1-a', 'r1-b'])
  })
  test('ignores nodes that do not exist any more', () => deepEqual(places(waiting(1), ['gone']), ['r0-a']))
})

test('reuseReservationRef names a gang whose nodes break ties, also while its pods terminate', () => {
  const objects = waiting(1, { reuseReservationRef: { namespace: 'default', name: 'old' } })
  const old = memberPod('old', 'o', 0, { [gpu]: '4' }, { node: 'r1-b', terminating: true })
  const small = { ...objects, pods: [memberPod('g', 'c', 0, { [gpu]: '4' }), old] }
  deepEqual(places(small), ['r1-b'])
  deepEqual(places({ ...waiting(1), pods: small.pods }), ['r1-b'], 'a node in use comes first anyway')
  const two = [...nodes.filter(({ metadata }) => metadata.name !== 'r1-b')]
  deepEqual(places({ ...small, nodes: two }), ['r0-a'])
})

describe('the memory of former nodes', () => {
  const gangs = [podGang('g', [{ name: 'c', min: 2 }])]
  const observe = (memory: FormerNodes, pods: readonly Pod[], podGangs = gangs) =>
    memory.observe(pods, podGangs, 'grove-scheduler').get('default/g')
  const bound = [0, 1].map(i => memberPod('g', 'c', i, one, { node: `r${i}-a` }))

  test('knows the node of each index', () => {
    const memory = new FormerNodes()
    equal(observe(memory, bound), undefined)
    deepEqual(observe(memory, [bound[0]!, memberPod('g', 'c', 1, one)]), ['r1-a'])
    deepEqual(observe(memory, [bound[0]!, memberPod('g', 'c', 7, one)]), [])
  })
  test('keeps the nodes while no pod exists, and forgets them with the PodGang', () => {
    const memory = new FormerNodes()
    observe(memory, bound)
    observe(memory, [])
    const fresh = [0, 1].map(i => memberPod('g', 'c', i, one))
    deepEqual(observe(memory, fresh), ['r0-a', 'r1-a'])
    observe(memory, [], [])
    deepEqual(observe(memory, fresh), [])
  })
})
