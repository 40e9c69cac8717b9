// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { defaultConfiguration } from './configuration/index.ts'
import {
  describeExceededLimit,
  exceededCliqueLimits,
  exceededGroupLimits,
  exceededLimits,
} from './replica-limits.ts'
import type { PodCliqueSet } from './types/index.ts'

const { limits } = defaultConfiguration()
const podSpec = { containers: [{ name: 'main', image: 'registry.example/main:1' }] }

interface Counts {
  readonly set?: number
  readonly clique?: number
  readonly group?: number
  readonly minAvailable?: number
  readonly member?: number
}

function setWith({ set = 1, clique = 1, group = 1, minAvailable = 1, member = 1 }: Counts): PodCliqueSet {
  return {
    apiVersion: 'grove.io/v1alpha1',
    kind: 'PodCliqueSet',
    metadata: { name: 'w', namespace: 'serving' },
    spec: {
      replicas: set,
      template: {
        cliques: [
          { name: 'web', spec: { roleName: 'web', replicas: clique, podSpec } },
          { name: 'work', spec: { roleName: 'work', replicas: member, podSpec } },
        ],
        podCliqueScalingGroups: [{ name: 'g', cliqueNames: ['work'], replicas: group, minAvailable }],
      },
    },
  }
}

describe('replica limits of a PodCliqueSet', () => {
  const most = 2_147_483_647
  const table: [what: string, counts: Counts, exceeded: string[]][] = [
    ['counts at their limits', { set: 7, clique: 10_000, group: 10_000 }, []],
    ['its own count', { set: 10_001 }, ['spec.replicas 10001 > 10000 podCliqueSetReplicas']],
    [
      'the count of a clique template',
      { clique: most },
      [`spec.template.cliques[0].spec.replicas ${most} > 10000 podCliqueReplicas`],
    ],
    [
      'the counts of a scaling group template',
      { group: most, minAvailable: 10_001 },
      [
        `spec.template.podCliqueScalingGroups[0].replicas ${most} > 10000 scalingGroupReplicas`,
        'spec.template.podCliqueScalingGroups[0].minAvailable 10001 > 10000 scalingGroupReplicas',
      ],
    ],
    [
      'pods of one replica',
      { group: 10_000, member: 16 },
      ['spec.template 160001 > 150000 podsPerPodCliqueSet'],
    ],
    ['pods of all replicas', { set: 10_000, clique: 15 }, ['spec 160000 > 150000 podsPerPodCliqueSet']],
    ['all pods of as many replicas as are allowed', { set: 10_000, clique: 14 }, []],
  ]
  for (const [what, counts, expected] of table)
    test(what, () =>
      assert.deepEqual(
        exceededLimits(setWith(counts), limits).map(
          ({ field, value, limit, key }) => `${field} ${value} > ${limit} ${key}`,
        ),
        expected,
      ),
    )
})

test('replica limits of a scaling group count the pods of its members', () => {
  const set = setWith({ member: 100 })
  const group = set.spec.template.podCliqueScalingGroups![0]!
  const exceeded = (replicas: number) =>
    exceededGroupLimits(set, group, replicas, limits).map(({ key, value }) => [key, value])
  assert.deepEqual(exceeded(1_500), [])
  assert.deepEqual(exceeded(1_501), [['podsPerPodCliqueSet', 150_100]])
  assert.deepEqual(exceeded(2_000_000_000), [['scalingGroupReplicas', 2_000_000_000]])
})

test('the message names the count, the limit, the configuration key and the remedy', () => {
  assert.deepEqual(exceededCliqueLimits(10_000, limits), [])
  assert.deepEqual(exceededCliqueLimits(10_001, limits).map(describeExceededLimit), [
    'spec.replicas is 10001, which exceeds the limit of 10000 (limits.podCliqueReplicas in the operator configuration); existing replicas are kept, and none is created until the count is reduced',
  ])
})
