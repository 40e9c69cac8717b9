// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { clique, errorsOf, sampleSet } from '../../testing/sample-sets.ts'

const Q = 'spec.template.cliques'

describe('a set without cliques', () => {
  test('is rejected', () => {
    assert.deepEqual(errorsOf(sampleSet({ cliques: [] })), [
      `${Q}: Required value: at least one PodClique must be defined`,
    ])
  })

  test('is rejected with the same error if the default scheduler has further rules', () => {
    assert.deepEqual(errorsOf(sampleSet({ cliques: [] }), { schedulers: ['kai-scheduler'] }), [
      `${Q}: Required value: at least one PodClique must be defined`,
    ])
  })
})

describe('the name of a clique', () => {
  for (const name of ['', '  ', '\t']) {
    test(`is not blank: ${JSON.stringify(name)}`, () => {
      assert.deepEqual(errorsOf(sampleSet({ cliques: [clique(name)] })), [
        `${Q}[0].name: Required value: field cannot be empty`,
      ])
    })
  }

  for (const [name, shown] of [
    ['Web', '"Web"'],
    ['web_1', '"web_1"'],
    ['-web', '"-web"'],
    ['web.', '"web."'],
    ['a\0b', '"a\\x00b"'],
  ]) {
    test(`is a DNS subdomain, not ${shown}`, () => {
      assert.deepEqual(errorsOf(sampleSet({ cliques: [clique('ok'), clique(name!)] })), [
        `${Q}[1].name: Invalid value: ${shown}: invalid PodCliqueTemplateSpec name, must be a valid DNS subdomain`,
      ])
    })
  }

  test('contains no dots, because it becomes part of pod hostnames', () => {
    assert.deepEqual(errorsOf(sampleSet({ cliques: [clique('a.b')] })), [
      `${Q}[0].name: Invalid value: "a.b": must not contain dots`,
    ])
  })

  test('may have 45 bytes together with the name of the set', () => {
    assert.deepEqual(errorsOf(sampleSet({ cliques: [clique('x'.repeat(41))] })), [])
  })

  test('may not have more, and both names are reported', () => {
    const name = 'x'.repeat(42)
    const problem = `combined resource name length 46 exceeds 45-character limit required for pod naming. Consider shortening: PodCliqueSet 'demo' or PodClique '${name}'`
    assert.deepEqual(errorsOf(sampleSet({ cliques: [clique(name)] })), [
      `${Q}[0].name: Invalid value: "${name}": ${problem}`,
      `metadata.name: Invalid value: "demo": ${problem}`,
    ])
  })

  test('is counted in bytes', () => {
    const texts = errorsOf(sampleSet({ cliques: [clique('ä'.repeat(21))] }))
    assert.match(texts[1]!, /combined resource name length 46/)
  })

  test('must be unique', () => {
    assert.deepEqual(
      errorsOf(sampleSet({ cliques: [clique('a'), clique('b'), clique('a', { roleName: 'c' })] })),
      [`${Q}.name: Duplicate value: ["a"]`],
    )
  })
})

test('role names must be unique, and an empty one counts as a name', () => {
  const roles = ['', 'x', 'y', 'x', '', 'z']
  const cliques = roles.map((roleName, index) => clique(`c${index}`, { roleName }))
  assert.deepEqual(errorsOf(sampleSet({ cliques })), [`${Q}.roleName: Duplicate value: ["","x"]`])
  assert.deepEqual(errorsOf(sampleSet({ cliques: [clique('c', { roleName: '' })] })), [])
})

describe('labels and annotations of a clique', () => {
  const metadataErrors = (rest: Parameters<typeof clique>[2]): string[] =>
    errorsOf(sampleSet({ cliques: [clique('web', {}, rest)] }))

  test('have valid keys', () => {
    for (const member of ['labels', 'annotations'] as const) {
      const [text, ...others] = metadataErrors({ [member]: { 'bad key': 'x' } })
      assert.ok(
        text?.startsWith(`${Q}[0].${member}: Invalid value: "bad key": name part must consist of`),
        text,
      )
      assert.deepEqual(others, [])
    }
  })

  test('labels have values of 63 bytes at most', () => {
    assert.deepEqual(metadataErrors({ labels: { a: 'x'.repeat(63) } }), [])
    assert.deepEqual(metadataErrors({ labels: { a: 'x'.repeat(64) } }), [
      `${Q}[0].labels: Invalid value: "${'x'.repeat(64)}": must be no more than 63 bytes`,
    ])
  })

  test('annotations have 256 KiB together at most', () => {
    assert.deepEqual(metadataErrors({ annotations: { a: 'x'.repeat(262143) } }), [])
    assert.deepEqual(metadataErrors({ annotations: { a: 'x'.repeat(262144) } }), [
      `${Q}[0].annotations: Too long: may not be more than 262144 bytes`,
    ])
  })
})

describe('replicas and minAvailable of a clique', () => {
  const cases: [replicas: number, minAvailable: number, expected: string[]][] = [
    [1, 1, []],
    [2, 2, []],
    [2, 3, ['minAvailable: Invalid value: 3: minAvailable must not be greater than replicas']],
    [2, 0, ['minAvailable: Invalid value: 0: must be greater than 0']],
    [2, -1, ['minAvailable: Invalid value: -1: must be greater than 0']],
    [
      -1,
      1,
      [
        'replicas: Invalid value: -1: must be greater than 0',
        'minAvailable: Invalid value: 1: minAvailable must not be greater than replicas',
      ],
    ],
    [
      -1,
      -1,
      [
        'replicas: Invalid value: -1: must be greater than 0',
        'minAvailable: Invalid value: -1: must be greater than 0',
      ],
    ],
  ]
  for (const [replicas, minAvailable, expected] of cases) {
    test(`${replicas} and ${minAvailable}: ${expected.length} errors`, () => {
      assert.deepEqual(
        errorsOf(sampleSet({ cliques: [clique('web', { replicas, minAvailable })] })),
        expected.map(text => `${Q}[0].spec.${text}`),
      )
    })
  }
})

test('the set may have zero replicas, but not fewer', () => {
  assert.deepEqual(errorsOf(sampleSet({}, {}, { replicas: 0 })), [])
  assert.deepEqual(errorsOf(sampleSet({}, {}, { replicas: -1 })), [
    'spec.replicas: Invalid value: -1: must be greater than or equal to 0',
  ])
})
