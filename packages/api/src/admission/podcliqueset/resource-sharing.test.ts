// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { clique, errorsOf, sampleSet } from '../../testing/sample-sets.ts'
import type { PodCliqueSetTemplate, ResourceSharing } from '../../types/index.ts'

const template = (name: string, requests: object[] = [{ name: 'gpu' }]) =>
  ({ name, templateSpec: { spec: { devices: { requests } } } }) as NonNullable<
    PodCliqueSetTemplate['resourceClaimTemplates']
  >[number]
const shared = (name: string, rest: object = {}): ResourceSharing => ({ name, scope: 'AllReplicas', ...rest })

/** Two cliques, the second in group `group`. */
function validate(rest: Partial<PodCliqueSetTemplate>, groupSharing?: ResourceSharing[]): string[] {
  const group = { name: 'group', cliqueNames: ['member'], replicas: 1, minAvailable: 1 }
  return errorsOf(
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
    assert.deepEqual(validate({ resourceClaimTemplates: [template('Any Text')] }), [])
    assert.deepEqual(validate({ resourceClaimTemplates: [template('a'), template('')] }), [
      `${field}[1].name: Required value: template name is required`,
    ])
  })

  test('request at least one device', () => {
    assert.deepEqual(validate({ resourceClaimTemplates: [template('a', [])] }), [
      `${field}[0].templateSpec.spec.devices.requests: Required value: at least one device request is required`,
    ])
  })

  test('have unique names, and each repeated name is reported once', () => {
    const names = ['a', 'b', 'a', 'a', 'b', 'c']
    assert.deepEqual(validate({ resourceClaimTemplates: names.map(name => template(name)) }), [
      `${field}.name: Duplicate value: ["a","b"]`,
    ])
  })
})

const levels: [title: string, field: string, validateAt: (sharing: ResourceSharing[]) => string[]][] = [
  [
    'the set',
    'spec.template.resourceSharing',
    resourceSharing => validate({ resourceSharing, resourceClaimTemplates: [template('inner')] }),
  ],
  [
    'a clique',
    'spec.template.cliques[0].resourceSharing',
    resourceSharing =>
      validate({
        cliques: [clique('solo', {}, { resourceSharing }), clique('member')],
        resourceClaimTemplates: [template('inner')],
      }),
  ],
  [
    'a scaling group',
    'spec.template.podCliqueScalingGroups[0].resourceSharing',
    resourceSharing => validate({ resourceClaimTemplates: [template('inner')] }, resourceSharing),
  ],
]

for (const [title, field, validateAt] of levels) {
  describe(`shared claims of ${title}`, () => {
    test('name a template of the set or of the namespace', () => {
      assert.deepEqual(validateAt([shared('inner'), shared('outer')]), [])
      assert.deepEqual(validateAt([shared('outer'), shared('')]), [
        `${field}[1].name: Required value: reference name is required`,
      ])
    })

    test('name each template only once, whatever the namespace', () => {
      assert.deepEqual(validateAt([shared('a'), shared('b'), shared('a', { namespace: 'work' })]), [
        `${field}[2].name: Duplicate value: "a"`,
      ])
    })

    test('set no namespace for a template of the set', () => {
      assert.deepEqual(validateAt([shared('inner', { namespace: '' })]), [])
      assert.deepEqual(validateAt([shared('inner', { namespace: 'work' })]), [
        `${field}[0].namespace: Invalid value: "work": namespace must be empty when name matches an internal resourceClaimTemplate`,
      ])
    })

    test('have a known scope', () => {
      assert.deepEqual(validateAt([shared('a', { scope: 'PerReplica' })]), [])
      assert.deepEqual(validateAt([shared('a', { scope: 'Each' })]), [
        `${field}[0].scope: Unsupported value: "Each": supported values: "AllReplicas", "PerReplica"`,
      ])
    })
  })
}

describe('filters of shared claims', () => {
  const setField = 'spec.template.resourceSharing[0].filter'
  const ofSet = (filter: object): string[] => validate({ resourceSharing: [shared('a', { filter })] })

  test('of the set name cliques, members included, or scaling groups', () => {
    assert.deepEqual(ofSet({ childCliqueNames: ['solo', 'member'] }), [])
    assert.deepEqual(ofSet({ childScalingGroupNames: ['group'] }), [])
  })

  test('of the set must not be empty', () => {
    const expected = `${setField}: Required value: filter must specify at least one childCliqueNames or childScalingGroupNames entry`
    assert.deepEqual(ofSet({}), [expected])
    assert.deepEqual(ofSet({ childCliqueNames: [], childScalingGroupNames: [] }), [expected])
  })

  test('of the set name only existing cliques and groups', () => {
    assert.deepEqual(ofSet({ childCliqueNames: ['solo', 'group'], childScalingGroupNames: ['solo'] }), [
      `${setField}.childCliqueNames[1]: Not found: "group"`,
      `${setField}.childScalingGroupNames[0]: Not found: "solo"`,
    ])
  })

  const groupField = 'spec.template.podCliqueScalingGroups[0].resourceSharing[0].filter'
  const ofGroup = (filter: object): string[] => validate({}, [shared('a', { filter })])

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
  const forbiddenNamespace = (field: string, namespace: string): string =>
    `${field}.namespace: Forbidden: claim templates of namespace "${namespace}" may not be used from other namespaces; the operator configuration must list it in resourceSharing.allowedTemplateNamespaces`

  test('are accepted with the default configuration', () => {
    assert.deepEqual(errorsOf(set), [])
  })

  test('are rejected if the operator configuration restricts the namespaces', () => {
    assert.deepEqual(errorsOf(set, { allowedTemplateNamespaces: [] }), [
      forbiddenNamespace('spec.template.resourceSharing[0]', 'shared'),
      forbiddenNamespace('spec.template.cliques[0].resourceSharing[0]', 'other'),
    ])
    assert.deepEqual(errorsOf(set, { allowedTemplateNamespaces: ['shared'] }), [
      forbiddenNamespace('spec.template.cliques[0].resourceSharing[0]', 'other'),
    ])
    assert.deepEqual(errorsOf(set, { allowedTemplateNamespaces: ['shared', 'other'] }), [])
    assert.deepEqual(errorsOf(set, { allowedTemplateNamespaces: ['*'] }), [])
  })

  test('are reported only if there is no other error', () => {
    const broken = {
      ...set,
      spec: { ...set.spec, template: { ...set.spec.template, terminationDelay: '0s' } },
    }
    assert.deepEqual(errorsOf(broken, { allowedTemplateNamespaces: [] }), [
      'spec.template.terminationDelay: Invalid value: "0s": terminationDelay must be greater than 0',
    ])
  })
})
