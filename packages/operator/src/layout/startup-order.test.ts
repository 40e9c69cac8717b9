// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { clique, group, sampleSet } from '../testing/sample-set.ts'
import { groupReplicasFromTemplate, podGangs } from './layout.ts'
import { startupParents } from './startup-order.ts'
import type { StoredSet } from './stored.ts'

/** Maps each name to its parents, as in the arguments of the waiter. */
function parentsIn(set: StoredSet): Record<string, string[]> {
  const cliques = podGangs(set, groupReplicasFromTemplate).flatMap(gang => gang.cliques)
  return Object.fromEntries(
    cliques.map(instance => [
      instance.name,
      startupParents(set, instance).map(parent => `${parent.name}:${parent.minAvailable}`),
    ]),
  )
}

test('in order, in the base gang: a clique waits for its predecessor in every group replica', () => {
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

test('explicit: waits for exactly the named cliques, whatever their order in the list', () => {
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

test('does not confuse cliques whose names have the same suffix', () => {
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

/** One standalone clique, and two groups with one replica each above minAvailable. */
const mixed = (
  startup: 'CliqueStartupTypeAnyOrder' | 'CliqueStartupTypeInOrder' | 'CliqueStartupTypeExplicit',
  order: readonly string[],
  startsAfter: Readonly<Record<string, string[]>> = {},
) =>
  sampleSet({
    startup,
    cliques: order.map(name =>
      clique(name, { ...(startsAfter[name] && { startsAfter: startsAfter[name] }) }),
    ),
    groups: [group('g', ['a', 'b'], 3, 2), group('h', ['c'], 2, 1)],
  })

describe('parents of a standalone clique, in the base gang and in a scaled gang', () => {
  const inBase = (parent: string) => [`w-0-g-0-${parent}:1`, `w-0-g-1-${parent}:1`]
  const table: Record<string, [StoredSet, expected: Record<string, string[]>]> = {
    'in order, after a standalone clique': [
      mixed('CliqueStartupTypeInOrder', ['x', 'a', 'c', 'b']),
      { 'w-0-x': [], 'w-0-g-0-a': ['w-0-x:1'], 'w-0-g-1-a': ['w-0-x:1'], 'w-0-g-2-a': [] },
    ],
    'in order, after a member of the same group': [
      mixed('CliqueStartupTypeInOrder', ['a', 'b', 'c', 'x']),
      { 'w-0-g-0-b': inBase('a'), 'w-0-g-1-b': inBase('a'), 'w-0-g-2-b': ['w-0-g-2-a:1'] },
    ],
    'in order, after a member of another group': [
      mixed('CliqueStartupTypeInOrder', ['a', 'b', 'c', 'x']),
      { 'w-0-h-0-c': inBase('b'), 'w-0-h-1-c': [], 'w-0-x': ['w-0-h-0-c:1'] },
    ],
    // The chain ends where the direct predecessor is outside the group, even if an earlier predecessor is inside.
    'in order, with another clique between two members': [
      mixed('CliqueStartupTypeInOrder', ['a', 'x', 'b', 'c']),
      { 'w-0-x': inBase('a'), 'w-0-g-0-b': ['w-0-x:1'], 'w-0-g-2-b': [] },
    ],
    'explicit, after all kinds of cliques, in the order of the list': [
      mixed('CliqueStartupTypeExplicit', ['a', 'b', 'c', 'x'], { b: ['c', 'x', 'a'], x: ['a', 'c'] }),
      {
        'w-0-x': [...inBase('a'), 'w-0-h-0-c:1'],
        'w-0-g-0-b': ['w-0-h-0-c:1', 'w-0-x:1', ...inBase('a')],
        'w-0-g-1-b': ['w-0-h-0-c:1', 'w-0-x:1', ...inBase('a')],
        'w-0-g-2-b': ['w-0-g-2-a:1'],
        'w-0-g-2-a': [],
        'w-0-h-0-c': [],
        'w-0-h-1-c': [],
      },
    ],
    'in any order': [
      mixed('CliqueStartupTypeAnyOrder', ['a', 'b', 'c', 'x'], { b: ['a'], x: ['a'] }),
      { 'w-0-x': [], 'w-0-g-0-b': [], 'w-0-g-2-b': [] },
    ],
  }
  for (const [what, [set, expected]] of Object.entries(table))
    test(what, () => {
      const parents = parentsIn(set)
      assert.deepEqual(Object.fromEntries(Object.keys(expected).map(name => [name, parents[name]])), expected)
    })
})
