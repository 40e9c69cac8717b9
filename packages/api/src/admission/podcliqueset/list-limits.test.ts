// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { clique, errorsOf, sampleSet, updateErrorsOf } from '../../testing/sample-sets.ts'
import type { PodCliqueSet, ResourceSharing } from '../../types/index.ts'
import { listLimits } from './list-limits.ts'

const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index))
const named = (count: number, prefix: string): string[] => times(count, index => `${prefix}${index}`)
const shared = (name: string): ResourceSharing => ({ name, scope: 'PerReplica' })

const groupsOf = (count: number): PodCliqueSet =>
  sampleSet({
    cliques: named(Math.min(count, listLimits.cliques), 'c').map(name => clique(name)),
    podCliqueScalingGroups: named(count, 'g').map(name => ({
      name,
      cliqueNames: [name.replace('g', 'c')],
      replicas: 1,
      minAvailable: 1,
    })),
  })

/** For each list a set with `count` entries in it. The set is valid unless the list is too long. */
const lists: [field: string, limit: number, make: (count: number) => PodCliqueSet][] = [
  [
    'spec.template.cliques',
    listLimits.cliques,
    count => sampleSet({ cliques: named(count, 'c').map(name => clique(name)) }),
  ],
  ['spec.template.podCliqueScalingGroups', listLimits.scalingGroups, groupsOf],
  [
    'spec.template.podCliqueScalingGroups[0].cliqueNames',
    listLimits.references,
    count =>
      sampleSet({
        cliques: named(Math.min(count, listLimits.cliques), 'c').map(name => clique(name)),
        podCliqueScalingGroups: [{ name: 'g', cliqueNames: named(count, 'c'), replicas: 1, minAvailable: 1 }],
      }),
  ],
  [
    'spec.template.cliques[0].spec.startsAfter',
    listLimits.references,
    count => sampleSet({ cliques: [clique('web', { startsAfter: named(count, 'c') })] }),
  ],
  [
    'spec.template.resourceSharing',
    listLimits.resourceSharing,
    count => sampleSet({ resourceSharing: named(count, 't').map(shared) }),
  ],
  [
    'spec.template.cliques[0].resourceSharing',
    listLimits.resourceSharing,
    count => sampleSet({ cliques: [clique('web', {}, { resourceSharing: named(count, 't').map(shared) })] }),
  ],
  [
    'spec.template.podCliqueScalingGroups[0].resourceSharing',
    listLimits.resourceSharing,
    count =>
      sampleSet({
        podCliqueScalingGroups: [
          {
            name: 'g',
            cliqueNames: ['web'],
            replicas: 1,
            minAvailable: 1,
            resourceSharing: named(count, 't').map(shared),
          },
        ],
      }),
  ],
  [
    'spec.template.resourceSharing[0].filter.childCliqueNames',
    listLimits.references,
    count =>
      sampleSet({
        resourceSharing: [{ ...shared('t'), filter: { childCliqueNames: times(count, () => 'web') } }],
      }),
  ],
  [
    'spec.template.resourceClaimTemplates',
    listLimits.resourceClaimTemplates,
    count =>
      sampleSet({
        resourceClaimTemplates: named(count, 't').map(name => ({
          name,
          templateSpec: { spec: { devices: { requests: [{ name: 'gpu' }] } } },
        })),
      }),
  ],
]

/** The set with another number of replicas, because an update without a change is not validated. */
function scaled(set: PodCliqueSet): PodCliqueSet {
  return { ...set, spec: { ...set.spec, replicas: 7 } }
}

describe('the longest list', () => {
  for (const [field, limit, make] of lists) {
    const tooMany = [`${field}: Too many: ${limit + 1}: must have at most ${limit} items`]

    test(`of ${field} is accepted, and one more entry is the only error`, () => {
      assert.deepEqual(errorsOf(make(limit)), [])
      assert.deepEqual(errorsOf(make(limit + 1)), tooMany)
    })

    test(`of ${field} may be exceeded by a stored set, but may not grow`, () => {
      assert.deepEqual(
        updateErrorsOf(scaled(make(limit + 1)), make(limit + 1)).filter(text => text.includes('Too many')),
        [],
      )
      assert.deepEqual(updateErrorsOf(scaled(make(limit + 1)), make(limit)), tooMany)
    })
  }

  test('is compared with the clique of the same name, also after a reorder', () => {
    const solo = clique('solo')
    const busy = clique('web', { startsAfter: named(listLimits.references + 1, 'c') })
    const old = sampleSet({ cliques: [busy, solo] })
    assert.deepEqual(updateErrorsOf(scaled(sampleSet({ cliques: [solo, busy] })), old), [])
  })
})

test('a stored set that exceeds a limit can still be scaled and edited', () => {
  const old = sampleSet({ cliques: named(listLimits.cliques + 1, 'c').map(name => clique(name)) })
  assert.deepEqual(updateErrorsOf(scaled(old), old), [])
})
