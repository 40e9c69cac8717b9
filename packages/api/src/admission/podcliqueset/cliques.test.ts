// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { clique, refusals, sampleSet } from '../sample-sets.ts'

const Q = 'spec.template.cliques'

describe('a set has cliques', () => {
  test('at least one', () => {
    assert.deepEqual(refusals(sampleSet({ cliques: [] })), [
      `${Q}: Required value: at least one PodClique must be defined`,
    ])
  })

  test('also where the default scheduler would ask for more', () => {
    assert.deepEqual(refusals(sampleSet({ cliques: [] }), { schedulers: ['kai-scheduler'] }), [
      `${Q}: Required value: at least one PodClique must be defined`,
    ])
  })
})

describe('the name of a clique', () => {
  for (const name of ['', '  ', '\t']) {
    test(`is not blank: ${JSON.stringify(name)}`, () => {
      assert.deepEqual(refusals(sampleSet({ cliques: [clique(name)] })), [
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
      assert.deepEqual(refusals(sampleSet({ cliques: [clique('ok'), clique(name!)] })), [
        `${Q}[1].name: Invalid value: ${shown}: invalid PodCliqueTemplateSpec name, must be a valid DNS subdomain`,
      ])
    })
  }

  test('holds no dots: they would be in the hostnames of its pods', () => {
    assert.deepEqual(refusals(sampleSet({ cliques: [clique('a.b')] })), [
      `${Q}[0].name: Invalid value: "a.b": must not contain dots`,
    ])
  })

  test('has 45 bytes together with the name of the set', () => {
    assert.deepEqual(refusals(sampleSet({ cliques: [clique('x'.repeat(41))] })), [])
  })

  test('has no more, and both names are reported', () => {
    const name = 'x'.repeat(42)
    const problem = `combined resource name length 46 exceeds 45-character limit required for pod naming. Consider shortening: PodCliqueSet 'demo' or PodClique '${name}'`
    assert.deepEqual(refusals(sampleSet({ cliques: [clique(name)] })), [
      `${Q}[0].name: Invalid value: "${name}": ${problem}`,
      `metadata.name: Invalid value: "demo": ${problem}`,
    ])
  })

  test('is counted in bytes', () => {
    const texts = refusals(sampleSet({ cliques: [clique('ä'.repeat(21))] }))
    assert.match(texts[1]!, /combined resource name length 46/)
  })

  test('is unique', () => {
    assert.deepEqual(
      refusals(sampleSet({ cliques: [clique('a'), clique('b'), clique('a', { roleName: 'c' })] })),
      [`${Q}.name: Duplicate value: ["a"]`],
    )
  })
})

test('role names are unique, and an empty one counts as a name', () => {
  const roles = ['', 'x', 'y', 'x', '', 'z']
  const cliques = roles.map((roleName, index) => clique(`c${index}`, { roleName }))
  assert.deepEqual(refusals(sampleSet({ cliques })), [`${Q}.roleName: Duplicate value: ["","x"]`])
  assert.deepEqual(refusals(sampleSet({ cliques: [clique('c', { roleName: '' })] })), [])
})

describe('labels and annotations of a clique', () => {
  const refusalsOf = (rest: Parameters<typeof clique>[2]): string[] =>
    refusals(sampleSet({ cliques: [clique('web', {}, rest)] }))

  test('have valid keys', () => {
    for (const member of ['labels', 'annotations'] as const) {
      const [text, ...others] = refusalsOf({ [member]: { 'bad key': 'x' } })
      assert.ok(
        text?.startsWith(`${Q}[0].${member}: Invalid value: "bad key": name part must consist of`),
        text,
      )
      assert.deepEqual(others, [])
    }
  })

  test('labels have values of 63 bytes at most', () => {
    assert.deepEqual(refusalsOf({ labels: { a: 'x'.repeat(63) } }), [])
    assert.deepEqual(refusalsOf({ labels: { a: 'x'.repeat(64) } }), [
      `${Q}[0].labels: Invalid value: "${'x'.repeat(64)}": must be no more than 63 bytes`,
    ])
  })

  test('annotations have 256 KiB together at most', () => {
    assert.deepEqual(refusalsOf({ annotations: { a: 'x'.repeat(262143) } }), [])
    assert.deepEqual(refusalsOf({ annotations: { a: 'x'.repeat(262144) } }), [
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
        refusals(sampleSet({ cliques: [clique('web', { replicas, minAvailable })] })),
        expected.map(text => `${Q}[0].spec.${text}`),
      )
    })
  }
})

test('the set itself may have no replicas, but not fewer', () => {
  assert.deepEqual(refusals(sampleSet({}, {}, { replicas: 0 })), [])
  assert.deepEqual(refusals(sampleSet({}, {}, { replicas: -1 })), [
    'spec.replicas: Invalid value: -1: must be greater than or equal to 0',
  ])
})
