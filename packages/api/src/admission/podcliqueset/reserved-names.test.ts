// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { annotation } from '../../annotations.ts'
import type { PodSpec } from '../../kubernetes/index.ts'
import { clique, errorsOf, sampleSet, updateErrorsOf, validateUpdate } from '../../testing/sample-sets.ts'

const image = 'example.com/main:1'
const withPods = (podSpec: Partial<PodSpec>) =>
  clique('web', { podSpec: { containers: [{ name: 'main', image }], ...podSpec } })

test('a set cannot have the name of the default service account of a namespace', () => {
  assert.match(
    errorsOf(sampleSet({}, { name: 'default' })).join(),
    /^metadata.name: Invalid value: "default"/,
  )
})

test('names that become host names contain no dots', () => {
  const set = sampleSet(
    {
      cliques: [clique('web.v1')],
      podCliqueScalingGroups: [{ name: 'g.1', cliqueNames: ['web.v1'], replicas: 1, minAvailable: 1 }],
    },
    { name: 'demo.v1' },
  )
  assert.deepEqual(
    errorsOf(set).map(text => text.split(':')[0]),
    ['metadata.name', 'spec.template.cliques[0].name', 'spec.template.podCliqueScalingGroups[0].name'],
  )
  assert.deepEqual(updateErrorsOf({ ...set, spec: { ...set.spec, replicas: 2 } }, set), [])
  assert.equal(
    validateUpdate({ ...set, spec: { ...set.spec, replicas: 2 } }, set).warnings.length,
    3,
    'stored sets get a warning',
  )
})

describe('names of the startup waiter', () => {
  const taken = {
    containers: [{ name: 'grove-initc', image }],
    initContainers: [{ name: 'grove-initc', image }],
    volumes: [{ name: 'sa-token-secret-vol', emptyDir: {} }, { name: 'pod-info-vol' }, { name: 'mine' }],
  }
  // Containers and init containers share one namespace of names.
  for (const [list, count] of [
    ['containers', 1],
    ['initContainers', 1],
    ['volumes', 2],
  ] as const)
    test(`are reserved for ${list} if a pod may get a waiter`, () => {
      const cliques = [withPods({ [list]: taken[list] })]
      assert.deepEqual(errorsOf(sampleSet({ cliques })), [])
      const found = errorsOf(sampleSet({ cliques, cliqueStartupType: 'CliqueStartupTypeInOrder' }))
      assert.equal(found.length, count, found.join())
      assert.match(found[0]!, /is reserved for the startup order of PodCliques/)
    })
})

describe('NVLink groups', () => {
  const gpus = { containers: [{ name: 'main', image, resources: { limits: { 'nvidia.com/gpu': '1' } } }] }
  const claim = { resourceClaims: [{ name: 'mnnvl-claim', resourceClaimTemplateName: 'mine' }] }
  const validate = (podSpec: Partial<PodSpec>, group: string) =>
    errorsOf(
      sampleSet({ cliques: [withPods(podSpec)] }, { annotations: { [annotation.mnnvlGroup]: group } }),
      {
        mnnvl: true,
      },
    )

  test('reserve the name of their claim', () => {
    assert.match(validate({ ...gpus, ...claim }, 'fabric').join(), /is reserved for the NVLink domain/)
    assert.deepEqual(validate(claim, 'fabric'), [])
    assert.deepEqual(validate({ ...gpus, ...claim }, 'none'), [])
  })

  test('have names that leave room for the names of the set and its replicas', () => {
    assert.deepEqual(validate(gpus, 'g'.repeat(63 - 'demo-999-'.length)), [])
    assert.match(validate(gpus, 'g'.repeat(64 - 'demo-999-'.length)).join(), /longer than 63 characters/)
  })
})
