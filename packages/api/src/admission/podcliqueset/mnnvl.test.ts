// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { clique, errorsOf, sampleSet, updateErrorsOf, validateNew } from '../../testing/sample-sets.ts'
import type { PodCliqueSet } from '../../types/index.ts'

const key = 'grove.io/mnnvl-group'
const paths = [
  `metadata.annotations.${key}`,
  `spec.template.cliques[0].annotations.${key}`,
  `spec.template.podCliqueScalingGroups[0].annotations.${key}`,
]
const gpuPod = { containers: [{ name: 'c', image: 'i', resources: { limits: { 'nvidia.com/gpu': '8' } } }] }

/** A set with an MNNVL group on the set, on its clique and on its scaling group. */
function setOf(ofSet?: string, ofClique?: string, ofGroup?: string, replicas = 1): PodCliqueSet {
  const annotations = (value?: string): object =>
    value === undefined ? {} : { annotations: { [key]: value } }
  return sampleSet(
    {
      cliques: [clique('web', { podSpec: gpuPod }, annotations(ofClique))],
      podCliqueScalingGroups: [
        { name: 'g', cliqueNames: ['web'], replicas: 1, minAvailable: 1, ...annotations(ofGroup) },
      ],
    },
    annotations(ofSet),
    { replicas },
  )
}

const disabled = `MNNVL is not enabled in the operator configuration. Either enable MNNVL globally or remove the ${key} annotation`
const labelText =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"

describe('a new set with a multi-node NVLink group', () => {
  const settings = { mnnvl: true }
  test('names a DNS label, or none', () => {
    for (const group of ['a', 'a-1', 'none', 'x'.repeat(63 - 'demo-999-'.length)]) {
      assert.deepEqual(errorsOf(setOf(group, group, group), settings), [])
    }
  })

  for (const [group, problem] of [
    ['', 'mnnvl-group value must not be empty'],
    ['None', `mnnvl-group value "None" is not a valid DNS-1123 label: ${labelText}`],
    ['a.b', 'mnnvl-group value "a.b" is not a valid DNS-1123 label: must not contain dots'],
    [
      'x'.repeat(64),
      `mnnvl-group value "${'x'.repeat(64)}" is not a valid DNS-1123 label: must be no more than 63 characters`,
    ],
  ]) {
    test(`is rejected at every level for ${JSON.stringify(group)}`, () => {
      assert.deepEqual(
        errorsOf(setOf(group, group, group), settings),
        paths.map(path => `${path}: Invalid value: "${group}": ${problem}`),
      )
    })
  }

  test('requires the feature, which is reported in addition to an invalid name', () => {
    assert.deepEqual(errorsOf(setOf('none', 'a')), [`${paths[1]}: Invalid value: "a": ${disabled}`])
    assert.deepEqual(errorsOf(setOf('')), [
      `${paths[0]}: Invalid value: "": mnnvl-group value must not be empty`,
      `${paths[0]}: Invalid value: "": ${disabled}`,
    ])
  })

  test('gets a warning if a clique without GPUs sets its own group', () => {
    const validate = (podSpec: object, group = 'a'): readonly string[] =>
      validateNew(
        sampleSet({
          cliques: [clique('web', { podSpec: podSpec as typeof gpuPod }, { annotations: { [key]: group } })],
        }),
        settings,
      ).warnings
    const warning = `${paths[1]} has no effect: no container of clique "web" requests nvidia.com/gpu`
    assert.deepEqual(validate(gpuPod), [])
    assert.deepEqual(validate({ containers: [{ name: 'c' }] }), [warning])
    assert.deepEqual(
      validate({ containers: [{ name: 'c', resources: { limits: { 'nvidia.com/gpu': '0' } } }] }),
      [warning],
    )
    assert.deepEqual(validate({ containers: [{ name: 'c' }] }, 'none'), [])
    assert.deepEqual(
      validate({
        containers: [{ name: 'c' }],
        initContainers: [{ name: 'i', resources: { requests: { 'nvidia.com/gpu': 1 } } }],
      }),
      [],
    )
  })
})

describe('the group of a stored set', () => {
  const every = (text: string): string[] => paths.map(path => `${path}: ${text}`)

  test('may stay, also if the feature is disabled', () => {
    assert.deepEqual(updateErrorsOf(setOf('a', 'b', 'c', 2), setOf('a', 'b', 'c')), [])
  })

  test('cannot be added', () => {
    assert.deepEqual(
      updateErrorsOf(setOf('a', 'a', 'a'), setOf()),
      every(`Forbidden: annotation ${key} cannot be added after creation`),
    )
  })

  test('cannot be removed', () => {
    assert.deepEqual(
      updateErrorsOf(setOf(), setOf('a', 'a', 'a')),
      every(`Forbidden: annotation ${key} cannot be removed after creation`),
    )
  })

  test('cannot be changed', () => {
    assert.deepEqual(
      updateErrorsOf(setOf('b', 'b', 'b'), setOf('a', 'a', 'a')),
      every(`Invalid value: "b": annotation ${key} is immutable and cannot be changed from "a" to "b"`),
    )
  })

  test('is compared by the name of the clique, and reported at its new index', () => {
    const plain = clique('x')
    const annotated = (group: string) => clique('y', {}, { annotations: { [key]: group } })
    assert.deepEqual(
      updateErrorsOf(
        sampleSet({ cliques: [annotated('b'), plain] }),
        sampleSet({ cliques: [plain, annotated('a')] }),
      ),
      [
        `${paths[1]}: Invalid value: "b": annotation ${key} is immutable and cannot be changed from "a" to "b"`,
      ],
    )
  })
})
