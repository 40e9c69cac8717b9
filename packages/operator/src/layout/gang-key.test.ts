// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clique, group, sampleSet } from '../testing/sample-set.ts'
import { gangInstanceOf, gangKey, gangKeyOf, gangKeyOfMember, wantedGangKey } from './gang-key.ts'
import { groupReplicasFromTemplate, podGangs } from './layout.ts'

const set = sampleSet({
  replicas: 2,
  cliques: [clique('a'), clique('b')],
  groups: [group('x', ['b'], 4, 2)],
})
const keys = podGangs(set, groupReplicasFromTemplate).map(gang => gangKeyOf(set, gang))

test('finds a gang by its key', () => {
  assert.deepEqual(keys, [
    'serving/w/0',
    'serving/w/1',
    'serving/w/0/w-0-x/2',
    'serving/w/0/w-0-x/3',
    'serving/w/1/w-1-x/2',
    'serving/w/1/w-1-x/3',
  ])
  for (const gang of podGangs(set, groupReplicasFromTemplate))
    assert.deepEqual(
      gangInstanceOf(set, gangKeyOf(set, gang), () => 4),
      gang,
    )
})

test('finds nothing for the key of a gang that is no longer wanted', () => {
  for (const [key, replicas] of [
    ['serving/w/2', 4],
    ['serving/w/0/w-0-x/3', 3],
    ['serving/w/0/w-0-x/1', 4],
    ['serving/w/0/w-0-y/2', 4],
  ] as const)
    assert.equal(
      gangInstanceOf(set, gangKey(key), () => replicas),
      undefined,
      key,
    )
})

test('derives the gang of pods and cliques from their labels, and never parses names', () => {
  const labels = { 'app.kubernetes.io/part-of': 'w', 'grove.io/podcliqueset-replica-index': '1' }
  const scaled = {
    ...labels,
    'grove.io/base-podgang': 'w-1',
    'grove.io/podcliquescalinggroup': 'w-1-x',
    'grove.io/podcliquescalinggroup-replica-index': '3',
  }
  const keyOf = (of: Record<string, string>) =>
    gangKeyOfMember({ metadata: { name: 'p', namespace: 'serving', labels: of } })
  assert.equal(keyOf(labels), 'serving/w/1')
  assert.equal(keyOf(scaled), 'serving/w/1/w-1-x/3')
  const { 'grove.io/base-podgang': _, ...ofBase } = scaled
  assert.equal(keyOf(ofBase), 'serving/w/1', 'a group replica below minAvailable is in the base gang')
  assert.equal(keyOf({ ...scaled, 'grove.io/podcliquescalinggroup-replica-index': 'three' }), undefined)
  assert.equal(keyOf({}), undefined)
})

test('finds a gang by its name, if the set wants it', () => {
  for (const gang of podGangs(set, groupReplicasFromTemplate))
    assert.equal(wantedGangKey(set, gang.name, groupReplicasFromTemplate), gangKeyOf(set, gang))
  for (const name of [
    '',
    'w',
    'w-',
    'w-x',
    'w-00',
    'w-999999',
    'v-0',
    'w-0-y-0',
    'w-0-x-00',
    'w-0-x-2',
    'w-0-x-2147483647',
  ])
    assert.equal(wantedGangKey(set, name, groupReplicasFromTemplate), undefined, name)
})
