// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { reservedLabels } from '@grove/api'
import type { KubeObject, Stored } from '@grove/kube'
import { cliqueInstanceOf } from '../layout/clique-instance.ts'
import { memberCliques, scalingGroups, standaloneCliques } from '../layout/layout.ts'
import { patchClique } from '../ownership/child-fields.ts'
import { clique, group, sampleSet } from '../testing/sample-set.ts'
import { podClique } from './clique.ts'

const claimed = Object.fromEntries([...reservedLabels].map(key => [key, 'stolen']))
const foreign = { 'app.kubernetes.io/managed-by': 'me', 'app.kubernetes.io/part-of': 'other' }
const kept = { team: 'blue', 'grove.io/team': 'blue' }
const labelled = (name: string, labels: Record<string, string>) => ({ ...clique(name), labels })

const setWith = (labels: Record<string, string>) =>
  sampleSet({
    cliques: [labelled('solo', labels), labelled('member', labels)],
    groups: [group('g', ['member'], 2)],
  })

describe('reserved labels of a clique template', () => {
  const set = setWith({ ...claimed, ...foreign, ...kept })
  const [pool] = scalingGroups(set, 0)
  const instances = [
    ...standaloneCliques(set, 0),
    ...[0, 1].flatMap(replica => memberCliques(set, pool!, replica)),
  ]

  for (const instance of instances) {
    test(`never reach PodClique ${instance.name}, which stays what it is an instance of`, () => {
      const made = podClique(set, instance, set, 'hash')
      const { labels = {} } = made.metadata
      assert.ok(!Object.values(labels).includes('stolen'), JSON.stringify(labels))
      assert.equal(labels['app.kubernetes.io/part-of'], 'w')
      assert.equal(labels['app.kubernetes.io/managed-by'], 'grove-operator')
      for (const [key, value] of Object.entries(kept)) assert.equal(labels[key], value)
      assert.deepEqual(cliqueInstanceOf(set, made), instance)
      assert.deepEqual(made.metadata.labels, podClique(setWith(kept), instance, set, 'hash').metadata.labels)
    })
  }

  test('are removed from a PodClique to which an earlier version added them', () => {
    const [solo] = standaloneCliques(set, 0)
    const wanted = podClique(set, solo!, set, 'hash')
    const before = {
      ...wanted,
      metadata: {
        ...wanted.metadata,
        labels: { ...wanted.metadata.labels, 'grove.io/podcliquescalinggroup': 'stolen' },
      },
    }
    assert.deepEqual(patchClique(before as Stored<KubeObject> & typeof before, wanted), {
      metadata: { labels: { 'grove.io/podcliquescalinggroup': null } },
    })
  })
})
