// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { PodSpec } from '../../kubernetes/index.ts'
import { clique, errorsOf, sampleSet, updateErrorsOf, validateNew } from '../../testing/sample-sets.ts'
import type { PodCliqueSet } from '../../types/index.ts'

/** The second `spec` is part of the path that tools match. */
const R = 'spec.template.cliques[0].spec.podSpec.spec'
const containers = [{ name: 'main', image: 'i' }]
const spread = [{ maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule' }]

function setOf(podSpec: Partial<PodSpec>): PodCliqueSet {
  return sampleSet({ cliques: [clique('web', { podSpec: { containers, ...podSpec } })] })
}

describe('the pod spec must not choose nodes', () => {
  test('by topology spread constraints, even an empty list', () => {
    assert.deepEqual(errorsOf(setOf({ topologySpreadConstraints: spread })), [
      `${R}.topologySpreadConstraints: Invalid value: [{"maxSkew":1,"topologyKey":"zone","whenUnsatisfiable":"DoNotSchedule"}]: must not be set`,
    ])
    assert.deepEqual(errorsOf(setOf({ topologySpreadConstraints: [] })), [
      `${R}.topologySpreadConstraints: Invalid value: []: must not be set`,
    ])
  })

  test('by a node name', () => {
    assert.deepEqual(errorsOf(setOf({ nodeName: 'n1' })), [
      `${R}.nodeName: Invalid value: "n1": must not be set`,
    ])
    assert.deepEqual(errorsOf(setOf({ nodeName: '  ' })), [])
    assert.deepEqual(errorsOf(setOf({ nodeName: '\u0085' })), [])
    assert.deepEqual(errorsOf(setOf({ nodeName: '\ufeff' })), [
      `${R}.nodeName: Invalid value: "\\ufeff": must not be set`,
    ])
  })

  test('also not by an update', () => {
    const old = setOf({})
    assert.deepEqual(updateErrorsOf(setOf({ nodeName: 'n1' }), old), [
      `${R}.nodeName: Invalid value: "n1": must not be set`,
    ])
    assert.equal(updateErrorsOf(setOf({ topologySpreadConstraints: spread }), old).length, 1)
  })

  test('but stored values may stay, change or be removed', () => {
    const old = setOf({ nodeName: 'n1', topologySpreadConstraints: spread })
    const image = { containers: [{ name: 'main', image: 'new' }] }
    assert.deepEqual(
      updateErrorsOf(setOf({ nodeName: 'n1', topologySpreadConstraints: spread, ...image }), old),
      [],
    )
    assert.deepEqual(updateErrorsOf(setOf({ nodeName: 'n2' }), old), [])
    assert.deepEqual(updateErrorsOf(setOf({}), old), [])
  })
})

describe('environment variables', () => {
  const envText =
    "a valid environment variable name must consist of alphabetic characters, digits, '_', '-', or '.', and must not start with a digit (e.g. 'my.env-name',  or 'MY_ENV.NAME',  or 'MyEnvName1', regex used for validation is '[-._a-zA-Z][-._a-zA-Z0-9]*')"
  const cases: [name: string, problem: string | undefined][] = [
    ['MODEL', undefined],
    ['-._a9', undefined],
    ['.a', undefined],
    ['', envText],
    ['1A', envText],
    ['A B', envText],
    ['.', "must not be '.'"],
    ['..', "must not be '..'"],
    ['..a', "must not start with '..'"],
    ['..a b', `${envText}; must not start with '..'`],
  ]
  for (const list of ['containers', 'initContainers'] as const) {
    for (const [name, problem] of cases) {
      test(`of ${list}: ${JSON.stringify(name)} is ${problem ? 'rejected' : 'accepted'}`, () => {
        const podSpec = { containers, [list]: [{ name: 'c', image: 'i', env: [{ name: 'OK' }, { name }] }] }
        assert.deepEqual(
          errorsOf(setOf(podSpec)),
          problem ? [`${R}.${list}[0].env[1].name: Invalid value: ${JSON.stringify(name)}: ${problem}`] : [],
        )
      })
    }
  }

  test('have unique names within a container', () => {
    const env = ['A', 'B', 'A', 'B', 'C'].map(name => ({ name }))
    assert.deepEqual(errorsOf(setOf({ containers: [{ name: 'c', image: 'i', env }] })), [
      `${R}.containers[0].env: Duplicate value: ["A","B"]`,
    ])
  })
})

describe('pods that could never be created are rejected', () => {
  test('without any container', () => {
    assert.deepEqual(errorsOf(setOf({ containers: [] })), [
      'spec.template.cliques[0].spec.podSpec.containers: Required value: at least one container must be defined',
    ])
  })

  test('with a container whose name is not a DNS label, except an absent name, which is accepted for compatibility', () => {
    assert.match(
      errorsOf(setOf({ initContainers: [{ name: 'a.b' }] }))[0]!,
      /initContainers\[0\]\.name: .*dots$/,
    )
    assert.deepEqual(errorsOf(setOf({ containers: [{ name: '' }] })), [])
  })
})

describe('a restart policy', () => {
  const warning = 'restartPolicy will be ignored, it will be set to Always'
  for (const [policy, expected] of [
    [undefined, []],
    ['', []],
    ['Always', []],
    ['OnFailure', [warning]],
    ['Never', [warning]],
  ] as const) {
    test(`${policy} gives ${expected.length} warnings`, () => {
      assert.deepEqual(validateNew(setOf(policy === undefined ? {} : { restartPolicy: policy })), {
        errors: [],
        warnings: expected,
      })
    })
  }
})
