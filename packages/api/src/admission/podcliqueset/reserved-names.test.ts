// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { annotation } from '../../annotations.ts'
import type { PodSpec } from '../../kubernetes/index.ts'
import { changeRefusals, clique, judgeChange, refusals, sampleSet } from '../sample-sets.ts'

const image = 'example.com/main:1'
const withPods = (podSpec: Partial<PodSpec>) =>
  clique('web', { podSpec: { containers: [{ name: 'main', image }], ...podSpec } })

test('a set is not called like the account that every namespace has', () => {
  assert.match(
    refusals(sampleSet({}, { name: 'default' })).join(),
    /^metadata.name: Invalid value: "default"/,
  )
})

test('names that become host names have no dots', () => {
  const set = sampleSet(
    {
      cliques: [clique('web.v1')],
      podCliqueScalingGroups: [{ name: 'g.1', cliqueNames: ['web.v1'], replicas: 1, minAvailable: 1 }],
    },
    { name: 'demo.v1' },
  )
  assert.deepEqual(
    refusals(set).map(text => text.split(':')[0]),
    ['metadata.name', 'spec.template.cliques[0].name', 'spec.template.podCliqueScalingGroups[0].name'],
  )
  assert.deepEqual(changeRefusals({ ...set, spec: { ...set.spec, replicas: 2 } }, set), [])
  assert.equal(
    judgeChange({ ...set, spec: { ...set.spec, replicas: 2 } }, set).warnings.length,
    3,
    'of stored sets the user is told',
  )
})

describe('names of the start-up waiter', () => {
  const taken = {
    containers: [{ name: 'grove-initc', image }],
    initContainers: [{ name: 'grove-initc', image }],
    volumes: [{ name: 'sa-token-secret-vol', emptyDir: {} }, { name: 'pod-info-vol' }, { name: 'mine' }],
  }
  // Containers and init containers share their names in any case.
  for (const [list, count] of [
    ['containers', 1],
    ['initContainers', 1],
    ['volumes', 2],
  ] as const)
    test(`are not used for ${list} where there may be one`, () => {
      const cliques = [withPods({ [list]: taken[list] })]
      assert.deepEqual(refusals(sampleSet({ cliques })), [])
      const found = refusals(sampleSet({ cliques, cliqueStartupType: 'CliqueStartupTypeInOrder' }))
      assert.equal(found.length, count, found.join())
      assert.match(found[0]!, /is reserved for the start-up order of PodCliques/)
    })
})

describe('NVLink groups', () => {
  const gpus = { containers: [{ name: 'main', image, resources: { limits: { 'nvidia.com/gpu': '1' } } }] }
  const claim = { resourceClaims: [{ name: 'mnnvl-claim', resourceClaimTemplateName: 'mine' }] }
  const judge = (podSpec: Partial<PodSpec>, group: string) =>
    refusals(
      sampleSet({ cliques: [withPods(podSpec)] }, { annotations: { [annotation.mnnvlGroup]: group } }),
      {
        mnnvl: true,
      },
    )

  test('need the name of their claim, where they matter', () => {
    assert.match(judge({ ...gpus, ...claim }, 'fabric').join(), /is reserved for the NVLink domain/)
    assert.deepEqual(judge(claim, 'fabric'), [])
    assert.deepEqual(judge({ ...gpus, ...claim }, 'none'), [])
  })

  test('have names that leave room for those of the set and its replicas', () => {
    assert.deepEqual(judge(gpus, 'g'.repeat(63 - 'demo-999-'.length)), [])
    assert.match(judge(gpus, 'g'.repeat(64 - 'demo-999-'.length)).join(), /more than 63 characters/)
  })
})
