// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SetObjects } from '@grove/inspect'
import { projectClique, projectNode, projectPod, projectSet } from '../caches/projections.ts'
import { type SetParts, setManifests } from '../testing/objects.ts'
import { mostEvents, mostPodsOfClique, mostPodsOfSet } from './limits.ts'
import { nodesDocument } from './nodes.ts'
import { overviewDocument } from './overview.ts'
import { setDocument } from './set.ts'

const notes = { isStale: false, problems: [] }

function objectsOf(parts: Partial<SetParts>): SetObjects {
  const all = setManifests({ namespace: 'team', name: 'llm', pods: 2, readyPods: 2, ...parts })
  const generation = { ...all.set, metadata: { ...all.set.metadata, generation: 1 } }
  return {
    set: projectSet(generation as never),
    groups: [],
    cliques: [projectClique(all.clique as never)],
    gangs: [all.gang as never],
    pods: all.pods.map(pod => projectPod(pod as never)),
  }
}

test('the overview lists sets that are not available first, and pending gangs with their cause', () => {
  const waiting = objectsOf({ name: 'waiting', readyPods: 0, gangMessage: '4 nvidia.com/gpu missing' })
  const { totals, sets, pendingGangs } = overviewDocument([objectsOf({}), waiting], [], notes)
  assert.deepEqual(totals, { sets: 2, availableSets: 1, pods: 4, readyPods: 2, gangs: 2, pendingGangs: 1 })
  assert.deepEqual(
    sets.map(({ name, state }) => [name, state]),
    [
      ['waiting', 'Progressing'],
      ['llm', 'Available'],
    ],
  )
  assert.match(sets[0]?.cause?.message ?? '', /4 nvidia\.com\/gpu missing/)
  assert.deepEqual(
    pendingGangs.map(({ name, set, pods, scheduledPods, cause }) => [
      name,
      set,
      pods,
      scheduledPods,
      cause?.reason,
      cause?.message,
    ]),
    [['waiting-0', 'waiting', 2, 0, 'InsufficientCapacity', '4 nvidia.com/gpu missing']],
  )
})

test('a set that is available and stalled is listed with its cause, and counts as available', () => {
  const objects = objectsOf({ pods: 3, readyPods: 2, gangMessage: 'no room' })
  const stalled = { type: 'Stalled', status: 'True', reason: 'GangUnschedulable', message: 'no room' }
  const status = { ...objects.set.status, availableReplicas: 1, updatedReplicas: 1, conditions: [stalled] }
  const set = { ...objects.set, status } as never
  const { sets, totals } = overviewDocument([objectsOf({}), { ...objects, set }], [], notes)
  assert.deepEqual(
    sets.map(({ state }) => state),
    ['Stalled', 'Available'],
  )
  assert.match(sets[0]?.cause?.message ?? '', /no room/)
  assert.equal(totals.availableSets, 2)
})

test('a gang whose scheduler writes no condition has the reason of its pods', () => {
  const objects = objectsOf({ readyPods: 1, gangMessage: '0/5 nodes are available' })
  const gangs = objects.gangs.map(gang => ({ ...gang, status: { phase: 'Starting' as const } }))
  const [gang] = setDocument({ ...objects, gangs }, [], notes).gangs
  assert.equal(gang?.cause?.reason, 'Unschedulable')
  assert.match(gang?.cause?.message ?? '', /0\/5 nodes are available/)
})

test('a set shows its tree with pods, those that are not ready first', () => {
  const { tree, pods, gangs } = setDocument(objectsOf({ pods: 3, readyPods: 2, gangMessage: 'x' }), [], notes)
  assert.deepEqual([tree.kind, tree.children[0]?.children[0]?.name], ['PodCliqueSet', 'llm-0-web'])
  assert.deepEqual(
    pods['llm-0-web']?.rows.map(({ name, state, node, restarts }) => [name, state, node, restarts]),
    [
      ['llm-0-web-2', 'Unschedulable', undefined, 0],
      ['llm-0-web-0', 'Ready', 'node-0', 1],
      ['llm-0-web-1', 'Ready', 'node-0', 1],
    ],
  )
  assert.equal(gangs[0]?.phase, 'Pending')
  assert.equal(setDocument(objectsOf({}), [], notes).gangs[0]?.placementScore, 0.75)
})

test('documents have a bounded size', () => {
  const large = objectsOf({ pods: 20_000, readyPods: 19_990 })
  const { rows, hidden } = setDocument(large, [], notes).pods['llm-0-web']!
  assert.equal(rows.length, mostPodsOfClique)
  assert.equal(hidden, 20_000 - mostPodsOfClique)
  assert.equal(rows.filter(({ state }) => state !== 'Ready').length, 10)
  const cliques = Array.from({ length: 100 }, (_, at) => `clique-${at}`)
  const spread = large.pods.map((pod, at) => ({
    ...pod,
    metadata: { ...pod.metadata, labels: { 'grove.io/podclique': cliques[at % 100]! } },
  }))
  const all = Object.values(setDocument({ ...large, pods: spread }, [], notes).pods)
  assert.equal(
    all.reduce((sum, clique) => sum + clique.rows.length, 0),
    mostPodsOfSet,
  )
  const event = { metadata: {}, type: 'Warning', message: 'x' } as never
  const { events } = overviewDocument([], Array(1_000).fill(event), notes)
  assert.equal(events.length, mostEvents)
})

test('nodes are grouped by the levels of the topology, with the devices in use of all pods', () => {
  const node = (name: string, rack: string, unschedulable = false) =>
    projectNode({
      metadata: { name, labels: { zone: 'a', rack } },
      spec: { unschedulable },
      status: {
        allocatable: { 'nvidia.com/gpu': '8', cpu: '64', 'hugepages-2Mi': '0' },
        conditions: [{ type: 'Ready', status: 'True' }],
      },
    } as never)
  const stranger = projectPod({
    metadata: { name: 'other', namespace: 'x' },
    spec: {
      nodeName: 'node-1',
      containers: [{ name: 'c', resources: { limits: { 'nvidia.com/gpu': '3', cpu: '1' } } }],
    },
    status: { phase: 'Running' },
  } as never)
  const ended = projectPod({
    metadata: { name: 'ended', namespace: 'x' },
    spec: {
      nodeName: 'node-1',
      containers: [{ name: 'c', resources: { limits: { 'nvidia.com/gpu': '5' } } }],
    },
    status: { phase: 'Succeeded' },
  } as never)
  const { pods } = objectsOf({})
  const { root, levels, devices } = nodesDocument(
    {
      nodes: [node('node-0', 'r1'), node('node-1', 'r1', true), node('node-2', 'r2')],
      pods: [...pods, stranger, ended] as never,
      topologyBindings: [
        {
          metadata: { name: 'grove-topology' },
          spec: {
            levels: [
              { domain: 'zone', key: 'zone' },
              { domain: 'rack', key: 'rack' },
              { domain: 'host', key: 'kubernetes.io/hostname' },
            ],
          },
        } as never,
      ],
    },
    notes,
  )
  assert.deepEqual(levels, ['zone', 'rack'])
  assert.deepEqual(devices, ['nvidia.com/gpu'])
  assert.deepEqual(root.devices, { 'nvidia.com/gpu': { allocatable: 24, used: 7 } })
  const racks = root.children[0]!.children
  assert.deepEqual(
    racks.map(({ name, nodes, readyNodes, devices: use }) => [name, nodes, readyNodes, use]),
    [
      ['r1', 2, 1, { 'nvidia.com/gpu': { allocatable: 16, used: 7 } }],
      ['r2', 1, 1, { 'nvidia.com/gpu': { allocatable: 8, used: 0 } }],
    ],
  )
  assert.deepEqual(
    racks[0]?.rows.map(({ name, pods: count, isCordoned }) => [name, count, isCordoned]),
    [
      ['node-0', 2, false],
      ['node-1', 0, true],
    ],
  )
})
