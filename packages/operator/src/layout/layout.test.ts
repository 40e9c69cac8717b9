// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { clique, group, sampleSet } from '../testing/sample-set.ts'
import { eachReplica, groupReplicasFromTemplate, memberCliques, podGangs, scalingGroup } from './layout.ts'
import type { StoredSet } from './stored.ts'

test('group replicas up to the minimum join the base gang, the others are gangs of their own', () => {
  const set = sampleSet({
    name: 's',
    cliques: [clique('a'), clique('b')],
    groups: [group('g', ['a', 'b'], 4, 2)],
  })
  const instance = scalingGroup(set, 0, set.spec.template.podCliqueScalingGroups![0]!)
  const table = [0, 1, 2, 3].map(replica => memberCliques(set, instance, replica)[0]!)
  assert.deepEqual(
    table.map(({ name, podGang, basePodGang }) => [name, podGang, basePodGang]),
    [
      ['s-0-g-0-a', 's-0', undefined],
      ['s-0-g-1-a', 's-0', undefined],
      ['s-0-g-2-a', 's-0-g-0', 's-0'],
      ['s-0-g-3-a', 's-0-g-1', 's-0'],
    ],
  )
})

const disaggregated = sampleSet({
  name: 'llm',
  replicas: 2,
  cliques: [
    clique('router', { replicas: 2, minAvailable: 1 }),
    clique('pl'),
    clique('pw', { replicas: 4, minAvailable: 3 }),
    clique('dec', { replicas: 2 }),
  ],
  groups: [group('prefill', ['pl', 'pw'], 3, 1), group('decode', ['dec'], 2, 2)],
})

test('gangs are listed base gangs first, then by replica, group and index', () => {
  assert.deepEqual(
    podGangs(disaggregated, groupReplicasFromTemplate).map(gang => gang.name),
    ['llm-0', 'llm-1', 'llm-0-prefill-0', 'llm-0-prefill-1', 'llm-1-prefill-0', 'llm-1-prefill-1'],
  )
})

test('a base gang holds standalone cliques, then the minimum of every group', () => {
  const [base] = podGangs(disaggregated, groupReplicasFromTemplate)
  assert.deepEqual(
    base!.cliques.map(member => member.name),
    ['llm-0-router', 'llm-0-prefill-0-pl', 'llm-0-prefill-0-pw', 'llm-0-decode-0-dec', 'llm-0-decode-1-dec'],
  )
})

test('a scaled gang holds one group replica, with indexes from minAvailable on', () => {
  const gang = podGangs(disaggregated, groupReplicasFromTemplate).find(
    ({ name }) => name === 'llm-0-prefill-0',
  )
  assert.deepEqual(
    gang!.cliques.map(member => member.name),
    ['llm-0-prefill-1-pl', 'llm-0-prefill-1-pw'],
  )
})

test('the live replica count of a group decides how many gangs it has; the template counts only before the group exists', () => {
  const live = podGangs(disaggregated, ({ name }) => (name === 'llm-0-prefill' ? 5 : 1))
  assert.deepEqual(
    live.map(gang => gang.name),
    ['llm-0', 'llm-1', 'llm-0-prefill-0', 'llm-0-prefill-1', 'llm-0-prefill-2', 'llm-0-prefill-3'],
  )
})

test('every clique of a set belongs to exactly one gang, and every gang has a unique name', () => {
  const shapes = fc.record({
    replicas: fc.nat(3),
    groups: fc.array(
      fc.record({ replicas: fc.integer({ min: 1, max: 4 }), minAvailable: fc.integer({ min: 1, max: 4 }) }),
      { maxLength: 3 },
    ),
  })
  fc.assert(
    fc.property(shapes, shape => {
      const cliques = [
        clique('solo'),
        ...shape.groups.flatMap((_, at) => [clique(`a${at}`), clique(`b${at}`)]),
      ]
      const groups = shape.groups.map(({ replicas, minAvailable }, at) =>
        group(`g${at}`, [`a${at}`, `b${at}`], Math.max(replicas, minAvailable), minAvailable),
      )
      const set = sampleSet({ replicas: shape.replicas, cliques, groups })
      const gangs = podGangs(set, groupReplicasFromTemplate)
      const members = gangs.flatMap(gang => gang.cliques.map(member => member.name))
      const expected = shape.replicas * groups.reduce((sum, { replicas }) => sum + 2 * replicas!, 1)
      assert.equal(new Set(members).size, members.length)
      assert.equal(members.length, expected)
      assert.equal(new Set(gangs.map(gang => gang.name)).size, gangs.length)
      for (const gang of gangs) for (const member of gang.cliques) assert.equal(member.podGang, gang.name)
    }),
  )
})

const surging = (replicas: number, maxSurge: number, surgeReplicas: number, ended = false): StoredSet => {
  const set = sampleSet({ replicas, cliques: [clique('a')] })
  return {
    ...set,
    spec: { ...set.spec, updateStrategy: { maxSurge } },
    status: {
      replicas: 2,
      availableReplicas: 2,
      updatedReplicas: 0,
      updateProgress: { surgeReplicas, ...(ended && { updateEndedAt: '2030-01-01T00:00:00Z' }) },
    },
  }
}

const sizes: [what: string, set: StoredSet, indexes: number[]][] = [
  ['has its surge replicas after its own', surging(2, 2, 1), [0, 1, 2]],
  ['has no surge replicas without an update', surging(2, 2, 1, true), [0, 1]],
  ['has at most the number that the strategy allows now', surging(2, 1, 2), [0, 1, 2]],
  ['has none when the strategy allows none any more', surging(2, 0, 2), [0, 1]],
  ['that scales out turns surge replicas into its own', surging(3, 2, 1), [0, 1, 2]],
  ['that scales out by less keeps the remaining surge replicas', surging(3, 2, 2), [0, 1, 2, 3]],
  ['that scales out by more has no surge replicas', surging(5, 2, 2), [0, 1, 2, 3, 4]],
  ['that scales in has them after the remaining replicas', surging(1, 2, 1), [0, 1]],
  ['that is scaled to zero has none', surging(0, 2, 1), []],
]
for (const [what, set, indexes] of sizes)
  test(`a set ${what}`, () => assert.deepEqual([...eachReplica(set)], indexes))
