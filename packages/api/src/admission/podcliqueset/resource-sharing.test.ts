// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { PodCliqueSetTemplate, ResourceSharing } from '../../types/index.ts'
import { clique, refusals, sampleSet } from '../sample-sets.ts'

const template = (name: string, requests: object[] = [{ name: 'gpu' }]) =>
  ({ name, templateSpec: { spec: { devices: { requests } } } }) as NonNullable<
    PodCliqueSetTemplate['resourceClaimTemplates']
  >[number]
const shared = (name: string, rest: object = {}): ResourceSharing => ({ name, scope: 'AllReplicas', ...rest })

/** Two cliques, the second in group `group`. */
function judge(rest: Partial<PodCliqueSetTemplate>, groupSharing?: ResourceSharing[]): string[] {
  const group = { name: 'group', cliqueNames: ['member'], replicas: 1, minAvailable: 1 }
  return refusals(
    sampleSet({
      cliques: [clique('solo'), clique('member')],
      podCliqueScalingGroups: [{ ...group, ...(groupSharing && { resourceSharing: groupSharing }) }],
      ...rest,
    }),
  )
}

describe('claim templates of the set', () => {
  const field = 'spec.template.resourceClaimTemplates'

  test('have a name, which may be any text', () => {
    assert.deepEqual(judge({ resourceClaimTemplates: [template('Any Text')] }), [])
    assert.deepEqual(judge({ resourceClaimTemplates: [template('a'), template('')] }), [
      `${field}[1].name: Required value: template name is required`,
    ])
  })

  test('ask for at least one device', () => {
    assert.deepEqual(judge({ resourceClaimTemplates: [template('a', [])] }), [
      `${field}[0].templateSpec.spec.devices.requests: Required value: at least one device request is required`,
    ])
  })

  test('have different names; each repeated one is named once', () => {
    const names = ['a', 'b', 'a', 'a', 'b', 'c']
    assert.deepEqual(judge({ resourceClaimTemplates: names.map(name => template(name)) }), [
      `${field}.name: Duplicate value: ["a","b"]`,
    ])
  })
})

const levels: [title: string, field: string, judgeAt: (sharing: ResourceSharing[]) => string[]][] = [
  [
    'the set',
    'spec.template.resourceSharing',
    resourceSharing => judge({ resourceSharing, resourceClaimTemplates: [template('inner')] }),
  ],
  [
    'a clique',
    'spec.template.cliques[0].resourceSharing',
    resourceSharing =>
      judge({
        cliques: [clique('solo', {}, { resourceSharing }), clique('member')],
        resourceClaimTemplates: [template('inner')],
      }),
  ],
  [
    'a scaling group',
    'spec.template.podCliqueScalingGroups[0].resourceSharing',
    resourceSharing => judge({ resourceClaimTemplates: [template('inner')] }, resourceSharing),
  ],
]

for (const [title, field, judgeAt] of levels) {
  describe(`shared claims of ${title}`, () => {
    test('name a template, of the set or of the namespace', () => {
      assert.deepEqual(judgeAt([shared('inner'), shared('outer')]), [])
      assert.deepEqual(judgeAt([shared('outer'), shared('')]), [
        `${field}[1].name: Required value: reference name is required`,
      ])
    })

    test('name each only once, whatever the namespace', () => {
      assert.deepEqual(judgeAt([shared('a'), shared('b'), shared('a', { namespace: 'work' })]), [
        `${field}[2].name: Duplicate value: "a"`,
      ])
    })

    test('give no namespace for a template of the set', () => {
      assert.deepEqual(judgeAt([shared('inner', { namespace: '' })]), [])
      assert.deepEqual(judgeAt([shared('inner', { namespace: 'work' })]), [
        `${field}[0].namespace: Invalid value: "work": namespace must be empty when name matches an internal resourceClaimTemplate`,
      ])
    })

    test('have a known scope', () => {
      assert.deepEqual(judgeAt([shared('a', { scope: 'PerReplica' })]), [])
      assert.deepEqual(judgeAt([shared('a', { scope: 'Each' })]), [
        `${field}[0].scope: Unsupported value: "Each": supported values: "AllReplicas", "PerReplica"`,
      ])
    })
  })
}

describe('filters of shared claims', () => {
  const setField = 'spec.template.resourceSharing[0].filter'
  const ofSet = (filter: object): string[] => judge({ resourceSharing: [shared('a', { filter })] })

  test('of the set name cliques, members too, or scaling groups', () => {
    assert.deepEqual(ofSet({ childCliqueNames: ['solo', 'member'] }), [])
    assert.deepEqual(ofSet({ childScalingGroupNames: ['group'] }), [])
  })

  test('of the set name somebody', () => {
    const expected = `${setField}: Required value: filter must specify at least one childCliqueNames or childScalingGroupNames entry`
    assert.deepEqual(ofSet({}), [expected])
    assert.deepEqual(ofSet({ childCliqueNames: [], childScalingGroupNames: [] }), [expected])
  })

  test('of the set name only what is there', () => {
    assert.deepEqual(ofSet({ childCliqueNames: ['solo', 'group'], childScalingGroupNames: ['solo'] }), [
      `${setField}.childCliqueNames[1]: Not found: "group"`,
      `${setField}.childScalingGroupNames[0]: Not found: "solo"`,
    ])
  })

  const groupField = 'spec.template.podCliqueScalingGroups[0].resourceSharing[0].filter'
  const ofGroup = (filter: object): string[] => judge({}, [shared('a', { filter })])

  test('of a scaling group name members', () => {
    assert.deepEqual(ofGroup({ childCliqueNames: ['member'] }), [])
    assert.deepEqual(ofGroup({}), [
      `${groupField}: Required value: filter must specify at least one childCliqueNames entry`,
    ])
    assert.deepEqual(ofGroup({ childCliqueNames: ['member', 'solo'] }), [
      `${groupField}.childCliqueNames[1]: Not found: "solo"`,
    ])
  })
})

describe('claim templates of other namespaces', () => {
  const set = sampleSet({
    cliques: [clique('web', {}, { resourceSharing: [shared('b', { namespace: 'other' })] })],
    resourceSharing: [shared('a', { namespace: 'shared' }), shared('own', { namespace: 'work' })],
  })
  const refusal = (field: string, namespace: string): string =>
    `${field}.namespace: Forbidden: claim templates of namespace "${namespace}" may not be used from other namespaces; the operator configuration must list it in resourceSharing.allowedTemplateNamespaces`

  test('are accepted with the default configuration', () => {
    assert.deepEqual(refusals(set), [])
  })

  test('are rejected where the operator configuration restricts the namespaces', () => {
    assert.deepEqual(refusals(set, { allowedTemplateNamespaces: [] }), [
      refusal('spec.template.resourceSharing[0]', 'shared'),
      refusal('spec.template.cliques[0].resourceSharing[0]', 'other'),
    ])
    assert.deepEqual(refusals(set, { allowedTemplateNamespaces: ['shared'] }), [
      refusal('spec.template.cliques[0].resourceSharing[0]', 'other'),
    ])
    assert.deepEqual(refusals(set, { allowedTemplateNamespaces: ['shared', 'other'] }), [])
    assert.deepEqual(refusals(set, { allowedTemplateNamespaces: ['*'] }), [])
  })

  test('are spoken of only when everything else is right', () => {
    const broken = {
      ...set,
      spec: { ...set.spec, template: { ...set.spec.template, terminationDelay: '0s' } },
    }
    assert.deepEqual(refusals(broken, { allowedTemplateNamespaces: [] }), [
      'spec.template.terminationDelay: Invalid value: "0s": terminationDelay must be greater than 0',
    ])
  })
})
