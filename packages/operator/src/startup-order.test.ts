// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { groupReplicasFromTemplate, podGangs } from './layout.ts'
import { startupParents } from './startup-order.ts'
import type { StoredSet } from './stored.ts'
import { clique, group, sampleSet } from './testing/sample-set.ts'

/** name → what it waits for, as the waiter is told. */
function parentsIn(set: StoredSet): Record<string, string[]> {
  const cliques = podGangs(set, groupReplicasFromTemplate).flatMap(gang => gang.cliques)
  return Object.fromEntries(
    cliques.map(instance => [
      instance.name,
      startupParents(set, instance).map(parent => `${parent.name}:${parent.minAvailable}`),
    ]),
  )
}

test('in order, with every group replica in the base gang: each waits for its predecessor in all of them', () => {
  const set = sampleSet({
    startup: 'CliqueStartupTypeInOrder',
    cliques: [clique('a', { replicas: 2 }), clique('b'), clique('c', { replicas: 3 })],
    groups: [group('s', ['b', 'c'], 2, 2)],
  })
  assert.deepEqual(parentsIn(set), {
    'w-0-a': [],
    'w-0-s-0-b': ['w-0-a:2'],
    'w-0-s-0-c': ['w-0-s-0-b:1', 'w-0-s-1-b:1'],
    'w-0-s-1-b': ['w-0-a:2'],
    'w-0-s-1-c': ['w-0-s-0-b:1', 'w-0-s-1-b:1'],
  })
})

test('in order, a scaled group replica waits only for its own siblings', () => {
  const set = sampleSet({
    startup: 'CliqueStartupTypeInOrder',
    cliques: [
      clique('a', { replicas: 2, minAvailable: 1 }),
      clique('b'),
      clique('c', { replicas: 3, minAvailable: 1 }),
    ],
    groups: [group('s', ['b', 'c'], 2, 1)],
  })
  assert.deepEqual(parentsIn(set), {
    'w-0-a': [],
    'w-0-s-0-b': ['w-0-a:1'],
    'w-0-s-0-c': ['w-0-s-0-b:1'],
    'w-0-s-1-b': [],
    'w-0-s-1-c': ['w-0-s-1-b:1'],
  })
})

test('explicit: exactly the named cliques, against the order of the list', () => {
  const set = sampleSet({
    startup: 'CliqueStartupTypeExplicit',
    cliques: [
      clique('a', { replicas: 2 }),
      clique('b', { startsAfter: ['c'] }),
      clique('c', { replicas: 3, startsAfter: ['a'] }),
    ],
    groups: [group('s', ['b', 'c'], 2, 2)],
  })
  const parents = parentsIn(set)
  assert.deepEqual(parents['w-0-s-1-c'], ['w-0-a:2'])
  assert.deepEqual(parents['w-0-s-0-b'], ['w-0-s-0-c:3', 'w-0-s-1-c:3'])
})

test('a clique is never mistaken for one whose name ends alike', () => {
  const set = sampleSet({
    startup: 'CliqueStartupTypeExplicit',
    cliques: [
      clique('worker', { replicas: 5 }),
      clique('gpu-worker', { replicas: 2 }),
      clique('last', { startsAfter: ['gpu-worker'] }),
    ],
  })
  assert.deepEqual(parentsIn(set)['w-0-last'], ['w-0-gpu-worker:2'])
})

test('in any order nothing waits, whatever the template says', () => {
  const set = sampleSet({ cliques: [clique('a'), clique('b', { startsAfter: ['a'] })] })
  assert.deepEqual(parentsIn(set), { 'w-0-a': [], 'w-0-b': [] })
})
