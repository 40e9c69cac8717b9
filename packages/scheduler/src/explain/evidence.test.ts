// SPDX-License-Identifier: Apache-2.0
import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { defaultPolicy, plan, snapshotFrom } from '../index.ts'
import { memberPod, node, podGang, topologyBinding } from '../testing/objects.ts'
import type { Evidence, SnapshotObjects } from '../types.ts'

const rack = 'example.com/rack'
const gangNames = ['a', 'b', 'c']

/** Gangs of two pods that need a rack with more room than there is. A pod of gang b still terminates. */
function objectsFor(waiting: readonly string[]): SnapshotObjects {
  const members = (name: string) => [0, 1].map(i => memberPod(name, `${name}-w`, i, { cpu: '3' }))
  const leaving = memberPod('b', 'b-w', 2, { cpu: '1' }, { terminating: true, spec: { nodeName: 'n1' } })
  return {
    nodes: [
      node('n1', { cpu: '4' }, { labels: { [rack]: 'r1' } }),
      node('n2', { cpu: '2' }, { labels: { [rack]: 'r2' } }),
    ],
    pods: [...waiting.flatMap(members), leaving],
    podGangs: waiting.map(name =>
      podGang(name, [{ name: `${name}-w`, min: 2 }], { topology: 'fabric', required: rack }),
    ),
    topologyBindings: [topologyBinding('fabric', { rack })],
  }
}

function evidenceOf(waiting: readonly string[]): Map<string, Evidence | undefined> {
  const { gangs } = plan(snapshotFrom(objectsFor(waiting)), defaultPolicy, 0)
  return new Map(gangs.map(({ name, explanation }) => [name, explanation?.evidence]))
}

test('equal gangs that wait together have the evidence that each has alone', () => {
  const together = evidenceOf(gangNames)
  for (const name of gangNames) deepEqual(together.get(name), evidenceOf([name]).get(name))
  deepEqual(together.get('a')?.holders, [
    { kind: 'PodGang', namespace: 'default', name: 'b', resources: { cpu: 1000 }, pods: 1 },
  ])
  deepEqual(together.get('b')?.holders, [])
  deepEqual(together.get('c')?.groups, [{ podGroup: 'c-w', need: 2, placeable: 1 }])
})
