// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { label } from '@grove/api'
import { scalingGroup } from '../layout/layout.ts'
import type { StoredClique, StoredScalingGroup } from '../layout/stored.ts'
import { clique, group, sampleSet } from '../testing/sample-set.ts'
import { planGroup } from './plan.ts'

const set = sampleSet({
  name: 's',
  cliques: [clique('a'), clique('b')],
  groups: [group('g', ['a', 'b'], 2, 1)],
})
const instance = scalingGroup(set, 0, set.spec.template.podCliqueScalingGroups![0]!)

function member(replica: number, name: string, terminating = false): StoredClique {
  return {
    apiVersion: 'grove.io/v1alpha1',
    kind: 'PodClique',
    metadata: {
      name: `s-0-g-${replica}-${name}`,
      namespace: 'serving',
      uid: `${replica}-${name}`,
      resourceVersion: '1',
      labels: { [label.scalingGroupReplicaIndex]: String(replica) },
      ...(terminating && { deletionTimestamp: 'now' }),
    },
    spec: { roleName: name, replicas: 1, podSpec: { containers: [] } },
  }
}

function plan(replicas: number, cliques: StoredClique[]) {
  const live: StoredScalingGroup = {
    apiVersion: 'grove.io/v1alpha1',
    kind: 'PodCliqueScalingGroup',
    metadata: { name: 's-0-g', namespace: 'serving', uid: 'group-uid', resourceVersion: '1' },
    spec: { replicas, minAvailable: 1, cliqueNames: ['a', 'b'] },
  }
  const { create, removeReplicas } = planGroup({ set, group: live, instance, cliques })
  return { create: create.map(({ name }) => name), removeReplicas }
}

test('creates missing members and leaves existing ones alone', () => {
  assert.deepEqual(plan(2, [member(0, 'a'), member(0, 'b'), member(1, 'a')]), {
    create: ['s-0-g-1-b'],
    removeReplicas: [],
  })
})

test('creates no member while its terminating predecessor exists', () => {
  assert.deepEqual(plan(1, [member(0, 'a', true), member(0, 'b')]), { create: [], removeReplicas: [] })
})

test('deletes every replica above the wanted number, even if lower replicas are missing', () => {
  const cliques = [
    member(0, 'a'),
    member(0, 'b'),
    member(1, 'a', true),
    member(1, 'b', true),
    member(2, 'a'),
    member(2, 'b'),
  ]
  assert.deepEqual(plan(1, cliques).removeReplicas, [2])
})

test('a group scaled to zero keeps no replica', () => {
  assert.deepEqual(plan(0, [member(0, 'a'), member(3, 'b')]), { create: [], removeReplicas: [0, 3] })
})
