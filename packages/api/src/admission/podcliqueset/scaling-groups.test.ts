// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { clique, errorsOf, sampleSet, validateUpdate } from '../../testing/sample-sets.ts'
import type { ScalingGroupTemplate } from '../../types/index.ts'

const G = 'spec.template.podCliqueScalingGroups'

function group(
  name: string,
  cliqueNames: string[],
  rest: Partial<ScalingGroupTemplate> = {},
): ScalingGroupTemplate {
  return { name, cliqueNames, replicas: 2, minAvailable: 1, ...rest }
}

function validate(...podCliqueScalingGroups: ScalingGroupTemplate[]): string[] {
  const autoScalingConfig = { maxReplicas: 9 }
  return errorsOf(
    sampleSet({
      cliques: [clique('a'), clique('b'), clique('scaled', { autoScalingConfig })],
      podCliqueScalingGroups,
    }),
  )
}

describe('the name of a scaling group', () => {
  for (const name of ['', 'Group', 'a b']) {
    test(`is a DNS subdomain, not ${JSON.stringify(name)}`, () => {
      assert.deepEqual(validate(group(name, ['a'])), [
        `${G}[0].name: Invalid value: ${JSON.stringify(name)}: invalid PodCliqueScalingGroupConfig name, must be a valid DNS subdomain`,
      ])
    })
  }

  test('must be unique', () => {
    assert.deepEqual(validate(group('g', ['a']), group('g', ['b'])), [`${G}.name: Duplicate value: ["g"]`])
  })

  test('may have 45 bytes together with the names of the set and of each member', () => {
    // demo (4) and a (1)
    assert.deepEqual(validate(group('g'.repeat(40), ['a'])), [])
    const name = 'g'.repeat(41)
    const problem = `combined resource name length 46 exceeds 45-character limit required for pod naming. Consider shortening: PodCliqueSet 'demo', PodCliqueScalingGroup '${name}', or PodClique 'b'`
    assert.deepEqual(validate(group(name, ['b'])), [
      `${G}[0].cliqueNames[0].name: Invalid value: "b": ${problem}`,
      `${G}[0].name: Invalid value: "b": ${problem}`,
      `metadata.name: Invalid value: "demo": ${problem}`,
    ])
  })

  test('replaces the budget of standalone cliques for its members', () => {
    const long = 'x'.repeat(40)
    const podCliqueScalingGroups = [group('g', [long])]
    assert.deepEqual(errorsOf(sampleSet({ cliques: [clique(long)], podCliqueScalingGroups })), [])
  })
})

describe('the members of a scaling group', () => {
  test('are cliques of the set, and unknown names are listed once', () => {
    assert.deepEqual(validate(group('g', ['a', 'x', 'y'])), [
      `${G}[0].cliqueNames: Invalid value: "x,y": unidentified PodClique names found`,
    ])
    assert.deepEqual(validate(group('g', ['x', 'x'])), [
      `${G}[0].cliqueNames: Invalid value: "x": unidentified PodClique names found`,
      `${G}.cliqueNames: Duplicate value: ["x"]`,
    ])
  })

  test('belong to one group, once', () => {
    assert.deepEqual(validate(group('g', ['a', 'b']), group('h', ['b'])), [
      `${G}.cliqueNames: Duplicate value: ["b"]`,
    ])
    assert.deepEqual(validate(group('g', ['a', 'a'])), [`${G}.cliqueNames: Duplicate value: ["a"]`])
  })

  test('have no autoscaler of their own', () => {
    assert.deepEqual(validate(group('g', ['a', 'scaled'])), [
      `${G}: Invalid value: "scaled": AutoScalingConfig is not allowed to be defined for PodClique that is part of scaling group`,
    ])
  })

  test('include at least one clique', () => {
    assert.deepEqual(validate(group('g', [])), [
      `${G}[0].cliqueNames: Required value: at least one PodClique must be a member`,
    ])
  })
})

describe('replicas and minAvailable of a scaling group', () => {
  const cases: [rest: Partial<ScalingGroupTemplate>, expected: string[]][] = [
    [{ replicas: 1, minAvailable: 1 }, []],
    [{ replicas: 3, minAvailable: 3 }, []],
    [
      { replicas: 0, minAvailable: 1 },
      [
        'replicas: Invalid value: 0: must be greater than 0',
        'minAvailable: Invalid value: 1: minAvailable must not be greater than replicas',
      ],
    ],
    [{ minAvailable: 0 }, ['minAvailable: Invalid value: 0: must be greater than 0']],
    [{ minAvailable: 3 }, ['minAvailable: Invalid value: 3: minAvailable must not be greater than replicas']],
    [{ scaleConfig: { minReplicas: 1, maxReplicas: 2 } }, []],
    [
      { minAvailable: 2, scaleConfig: { minReplicas: 1, maxReplicas: 2 } },
      [
        'scaleConfig.minReplicas: Invalid value: 1: scaleConfig.minReplicas must be greater than or equal to minAvailable',
      ],
    ],
    [
      { scaleConfig: { minReplicas: 4, maxReplicas: 3 } },
      ['scaleConfig.maxReplicas: Invalid value: 3: must be greater than or equal to scaleConfig.minReplicas'],
    ],
    [
      { scaleConfig: { minReplicas: 1, maxReplicas: 1 } },
      ['scaleConfig.maxReplicas: Invalid value: 1: must be greater than or equal to replicas'],
    ],
    [
      { scaleConfig: { maxReplicas: 0 } },
      ['scaleConfig.maxReplicas: Invalid value: 0: must be greater than 0'],
    ],
  ]
  for (const [rest, expected] of cases) {
    test(JSON.stringify(rest), () => {
      assert.deepEqual(
        validate(group('g', ['a'], rest)),
        expected.map(text => `${G}[0].${text}`),
      )
    })
  }
})

test('annotations of a scaling group have valid keys', () => {
  const [text, ...others] = validate(group('g', ['a'], { annotations: { 'bad key': '' } }))
  assert.ok(
    text?.startsWith(`${G}[0].annotations: Invalid value: "bad key": name part must consist of`),
    text,
  )
  assert.deepEqual(others, [])
})

test('mistakes in a stored set that only fail later are warnings', () => {
  const setWith = (maxReplicas: number) =>
    sampleSet({
      cliques: [clique('a', { podSpec: { containers: [{ name: 'Bad', image: 'i' }] } })],
      podCliqueScalingGroups: [group('g', ['a'], { scaleConfig: { minReplicas: 1, maxReplicas } })],
    })
  assert.deepEqual(validateUpdate(setWith(1), setWith(2)), {
    errors: [],
    warnings: [
      "spec.template.cliques[0].spec.podSpec.containers[0].name: Invalid value: \"Bad\": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
      `${G}[0].scaleConfig.maxReplicas: Invalid value: 1: must be greater than or equal to replicas`,
    ],
  })
})
