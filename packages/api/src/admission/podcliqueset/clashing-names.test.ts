// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { clique, sampleSet } from '../../testing/sample-sets.ts'
import { clashingNames } from './clashing-names.ts'

const autoscaled = { maxReplicas: 4 }
const cases: [name: string, cliques: string[], groups: Record<string, string[]>, clash: boolean][] = [
  ['cliques and groups with distinct names', ['router', 'lead', 'work'], { eng: ['lead', 'work'] }, false],
  ['a member with the name of its group', ['decode'], { decode: ['decode'] }, false],
  ['a standalone clique with the name of a member', ['g-3-w', 'w'], { g: ['w'] }, true],
  ['a number with a leading zero, which no index has', ['g-03-w', 'w'], { g: ['w'] }, false],
  ['no number in between', ['g-x-w', 'w'], { g: ['w'] }, false],
  ['members of two groups', ['1-w', 'w'], { g: ['1-w'], 'g-0': ['w'] }, true],
  ['members of two groups, the longer one first', ['1-w', 'w'], { 'g-0': ['w'], g: ['1-w'] }, true],
  ['members of two groups, further apart', ['b-1-w', 'w'], { g: ['b-1-w'], 'g-0-b': ['w'] }, true],
  ['groups with a common prefix', ['a', 'w'], { g: ['a'], 'g-0': ['w'] }, false],
]

describe('child objects that could get the same name', () => {
  for (const [name, cliques, groups, clash] of cases)
    test(name, () => {
      const set = sampleSet({
        cliques: cliques.map(one => clique(one)),
        podCliqueScalingGroups: Object.entries(groups).map(([group, cliqueNames]) => ({
          name: group,
          cliqueNames,
        })),
      })
      assert.equal(clashingNames(set).length, clash ? 1 : 0)
    })

  test('a clique and a group of the same name collide only if both have an autoscaler', () => {
    const set = (scaleConfig: object) =>
      sampleSet({
        cliques: [clique('x', { autoScalingConfig: autoscaled }), clique('w')],
        podCliqueScalingGroups: [{ name: 'x', cliqueNames: ['w'], ...scaleConfig }],
      })
    assert.equal(clashingNames(set({})).length, 0)
    assert.equal(clashingNames(set({ scaleConfig: autoscaled })).length, 1)
  })
})
