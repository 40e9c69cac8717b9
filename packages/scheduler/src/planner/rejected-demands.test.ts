// SPDX-License-Identifier: Apache-2.0
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { defaultPolicy, snapshotFrom } from '../index.ts'
import { gpu, memberPod, node, podGang, topologyBinding } from '../testing/objects.ts'
import { runCycle } from './cycle.ts'

const racks = topologyBinding('fabric', { rack: 'rack', host: 'kubernetes.io/hostname' })
const nodes = ['a', 'b', 'c', 'd'].map((name, i) =>
  node(name, { [gpu]: '8' }, { labels: { rack: i < 2 ? 'r1' : 'r2' } }),
)

interface Wanted {
  readonly pods: number
  readonly gpus: number
  readonly required?: string
}

function resultsOf(gangs: readonly Wanted[]) {
  const objects = {
    nodes,
    topologyBindings: [racks],
    podGangs: gangs.map(({ pods, required }, i) =>
      podGang(`g${i}`, [{ name: `g${i}-c`, min: pods }], {
        createdAt: `2026-01-01T00:00:0${i}Z`,
        topology: 'fabric',
        ...(required && { required }),
      }),
    ),
    pods: gangs.flatMap(({ pods, gpus }, i) =>
      Array.from({ length: pods }, (_, at) => memberPod(`g${i}`, `g${i}-c`, at, { [gpu]: String(gpus) })),
    ),
  }
  return runCycle(snapshotFrom(objects), defaultPolicy).results.map(result =>
    result.kind === 'unschedulable'
      ? { kind: result.kind, proved: result.proved, isRepeated: result.steps === 0 }
      : { kind: result.kind },
  )
}

test('an equal demand of a later gang is rejected without another search, and a smaller one is accepted', () => {
  const [first, second, third, small] = resultsOf([
    { pods: 3, gpus: 8 },
    { pods: 2, gpus: 8 },
    { pods: 2, gpus: 8 },
    { pods: 1, gpus: 8 },
  ])
  equal(first?.kind, 'accepted')
  deepEqual(second, { kind: 'unschedulable', proved: true, isRepeated: false })
  deepEqual(third, { kind: 'unschedulable', proved: true, isRepeated: true })
  equal(small?.kind, 'accepted')
})

test('a minimum with pods of two templates is another demand', () => {
  const pods = [1, 100, 1, 1].map((cpu, i) => {
    const gang = i < 2 ? 'updated' : 'plain'
    return memberPod(gang, `${gang}-c`, i, { cpu: String(cpu) })
  })
  const podGangs = ['updated', 'plain'].map((name, i) =>
    podGang(name, [{ name: `${name}-c`, min: 2 }], { createdAt: `2026-01-01T00:00:0${i}Z` }),
  )
  const snapshot = snapshotFrom({ nodes: [node('n', { cpu: '4' })], pods, podGangs })
  deepEqual(
    runCycle(snapshot, defaultPolicy).results.map(({ kind }) => kind),
    ['unschedulable', 'accepted'],
  )
})

test('a demand with another required level is another demand', () => {
  const [, inRack, anywhere] = resultsOf([
    { pods: 2, gpus: 8, required: 'kubernetes.io/hostname' },
    { pods: 3, gpus: 8, required: 'rack' },
    { pods: 3, gpus: 8 },
  ])
  equal(inRack?.kind, 'unschedulable')
  equal(anywhere?.kind, 'accepted')
})
