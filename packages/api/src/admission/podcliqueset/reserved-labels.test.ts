// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { canonicalPodTemplate, sameCanonical } from '../../revision/index.ts'
import { clique, sampleSet, validateNew, validateUpdate } from '../../testing/sample-sets.ts'

const group = 'grove.io/podcliquescalinggroup'
const labelled = (labels: Record<string, string>, replicas = 1) =>
  sampleSet({ cliques: [clique('solo'), clique('web', {}, { labels })] }, {}, { replicas })

test('labels that the operator sets itself are accepted on a clique template, with a warning for each', () => {
  const labels = {
    [group]: 'demo-0-g',
    'grove.io/base-podgang': 'other',
    'grove.io/team': 'blue',
    team: 'red',
  }
  const warnings = [group, 'grove.io/base-podgang'].map(
    key => `spec.template.cliques[1].labels[${key}] is ignored: the operator sets this label itself`,
  )
  assert.deepEqual(validateNew(labelled(labels)), { errors: [], warnings })
  assert.deepEqual(validateUpdate(labelled(labels, 2), labelled(labels)), { errors: [], warnings })
  assert.deepEqual(validateNew(labelled({ 'grove.io/team': 'blue' })), { errors: [], warnings: [] })
})

test('a label that the operator ignores is not part of the revision', () => {
  const form = (labels?: Record<string, string>) =>
    canonicalPodTemplate({}, clique('web', {}, { ...(labels && { labels }) }))
  assert.ok(sameCanonical(form({ [group]: 'g' }), form()))
  assert.ok(sameCanonical(form({ [group]: 'g', team: 'red' }), form({ team: 'red' })))
  assert.ok(!sameCanonical(form({ 'grove.io/team': 'blue' }), form()))
})
