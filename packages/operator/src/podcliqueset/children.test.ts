// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject, Stored } from '@grove/kube'
import type { StoredSet } from '../layout/stored.ts'
import { buildAll } from '../objects/wanted-child.ts'
import { patchClique, patchScalingGroup } from '../ownership/child-fields.ts'
import { clique, group, sampleSet } from '../testing/sample-set.ts'
import { asScaled, wantedAutoscalers, wantedCliques, wantedScalingGroups } from './children.ts'

const stored = <T>(object: T) => object as Stored<KubeObject> & T

const web = clique('web', { replicas: 2 })
const set = sampleSet({
  cliques: [
    { ...web, spec: { ...web.spec, autoScalingConfig: { minReplicas: 2, maxReplicas: 9 } } },
    clique('other'),
  ],
})
const replicasWith = (desiredReplicas: number | undefined, before: Record<string, number> = {}) =>
  buildAll(
    wantedCliques(
      set,
      {},
      asScaled(
        buildAll(wantedAutoscalers(set)).map(one => ({
          ...one,
          ...(desiredReplicas !== undefined && { status: { desiredReplicas, currentReplicas: 2 } }),
        })),
        before,
      ),
    ),
  ).map(({ spec }) => spec.replicas)

test('a clique is created with the replica count of its autoscaler, or of the template', () => {
  assert.deepEqual(replicasWith(7), [7, 1])
  assert.deepEqual(replicasWith(0), [2, 1])
  assert.deepEqual(replicasWith(undefined), [2, 1])
})

test('no patch of an existing child changes its replica count', () => {
  const shaped = (replicas: number, minAvailable: number) =>
    sampleSet({
      cliques: [clique('a', { replicas, minAvailable }), clique('b')],
      groups: [group('g', ['b'], replicas, minAvailable)],
    })
  const [before, after] = [shaped(2, 1), shaped(5, 3)]
  const cliqueOf = (set: StoredSet, hash: string) => buildAll(wantedCliques(set, { a: hash }))[0]!
  assert.deepEqual(patchClique(stored(cliqueOf(before, 'old')), cliqueOf(after, 'new')), {
    metadata: { labels: { 'grove.io/pod-template-hash': 'new' } },
    spec: { minAvailable: 3 },
  })
  const groupOf = (set: StoredSet) => buildAll(wantedScalingGroups(set))[0]!
  assert.deepEqual(patchScalingGroup(stored(groupOf(before)), groupOf(after)), { spec: { minAvailable: 3 } })
})

test('the replica count before a termination takes precedence', () => {
  assert.deepEqual(replicasWith(7, { [`${set.metadata.name}-0-web`]: 4 }), [4, 1])
  assert.deepEqual(replicasWith(undefined, { [`${set.metadata.name}-0-other`]: 0 }), [2, 0])
})
