// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { PodSpec } from '../../kubernetes/index.ts'
import type { PodCliqueSet } from '../../types/index.ts'
import { changeRefusals, clique, judgeNew, refusals, sampleSet } from '../sample-sets.ts'

/** Tools know these errors under a path with a second `spec`. */
const R = 'spec.template.cliques[0].spec.podSpec.spec'
const containers = [{ name: 'main', image: 'i' }]
const spread = [{ maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule' }]

function setOf(podSpec: Partial<PodSpec>): PodCliqueSet {
  return sampleSet({ cliques: [clique('web', { podSpec: { containers, ...podSpec } })] })
}

describe('where pods run is not fixed by the pod specification', () => {
  test('neither by spread constraints, even an empty list', () => {
    assert.deepEqual(refusals(setOf({ topologySpreadConstraints: spread })), [
      `${R}.topologySpreadConstraints: Invalid value: [{"maxSkew":1,"topologyKey":"zone","whenUnsatisfiable":"DoNotSchedule"}]: must not be set`,
    ])
    assert.deepEqual(refusals(setOf({ topologySpreadConstraints: [] })), [
      `${R}.topologySpreadConstraints: Invalid value: []: must not be set`,
    ])
  })

  test('nor by a node name', () => {
    assert.deepEqual(refusals(setOf({ nodeName: 'n1' })), [
      `${R}.nodeName: Invalid value: "n1": must not be set`,
    ])
    assert.deepEqual(refusals(setOf({ nodeName: '  ' })), [])
  })

  test('nor later by an update', () => {
    const old = setOf({})
    assert.deepEqual(changeRefusals(setOf({ nodeName: 'n1' }), old), [
      `${R}.nodeName: Invalid value: "n1": must not be set`,
    ])
    assert.equal(changeRefusals(setOf({ topologySpreadConstraints: spread }), old).length, 1)
  })

  test('but what is stored may stay, change or go', () => {
    const old = setOf({ nodeName: 'n1', topologySpreadConstraints: spread })
    const image = { containers: [{ name: 'main', image: 'new' }] }
    assert.deepEqual(
      changeRefusals(setOf({ nodeName: 'n1', topologySpreadConstraints: spread, ...image }), old),
      [],
    )
    assert.deepEqual(changeRefusals(setOf({ nodeName: 'n2' }), old), [])
    assert.deepEqual(changeRefusals(setOf({}), old), [])
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
      test(`of ${list}: ${JSON.stringify(name)} is ${problem ? 'refused' : 'fine'}`, () => {
        const podSpec = { containers, [list]: [{ name: 'c', image: 'i', env: [{ name: 'OK' }, { name }] }] }
        assert.deepEqual(
          refusals(setOf(podSpec)),
          problem ? [`${R}.${list}[0].env[1].name: Invalid value: ${JSON.stringify(name)}: ${problem}`] : [],
        )
      })
    }
  }

  test('have different names within a container', () => {
    const env = ['A', 'B', 'A', 'B', 'C'].map(name => ({ name }))
    assert.deepEqual(refusals(setOf({ containers: [{ name: 'c', image: 'i', env }] })), [
      `${R}.containers[0].env: Duplicate value: ["A","B"]`,
    ])
  })
})

describe('pods that could never be created are refused', () => {
  test('without any container', () => {
    assert.deepEqual(refusals(setOf({ containers: [] })), [
      'spec.template.cliques[0].spec.podSpec.containers: Required value: at least one container must be defined',
    ])
  })

  test('with a container whose name is no DNS label; an absent one has always been accepted', () => {
    assert.match(
      refusals(setOf({ initContainers: [{ name: 'a.b' }] }))[0]!,
      /initContainers\[0\]\.name: .*dots$/,
    )
    assert.deepEqual(refusals(setOf({ containers: [{ name: '' }] })), [])
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
      assert.deepEqual(judgeNew(setOf(policy === undefined ? {} : { restartPolicy: policy })), {
        errors: [],
        warnings: expected,
      })
    })
  }
})
