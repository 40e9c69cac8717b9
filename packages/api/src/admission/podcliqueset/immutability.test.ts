// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { clique, sampleSet, updateErrorsOf } from '../../testing/sample-sets.ts'
import type { CliqueTemplate, PodCliqueSetTemplate, ScalingGroupTemplate } from '../../types/index.ts'

const Q = 'spec.template.cliques'
const G = 'spec.template.podCliqueScalingGroups'

function validate(now: Partial<PodCliqueSetTemplate>, old: Partial<PodCliqueSetTemplate>): string[] {
  return updateErrorsOf(sampleSet(now), sampleSet(old))
}

describe('the cliques of a stored set', () => {
  const [a, b, c] = [clique('a'), clique('b'), clique('c')]

  test('cannot be added or removed', () => {
    assert.deepEqual(validate({ cliques: [a, b, c] }, { cliques: [a, b] }), [
      `${Q}: Forbidden: not allowed to change clique composition`,
      `${Q}.name: Forbidden: not allowed to change clique composition, new clique name 'c' is not allowed`,
    ])
    assert.deepEqual(validate({ cliques: [a] }, { cliques: [a, b] }), [
      `${Q}: Forbidden: not allowed to change clique composition`,
    ])
  })

  test('keep their names', () => {
    assert.deepEqual(validate({ cliques: [a, c] }, { cliques: [a, b] }), [
      `${Q}.name: Forbidden: not allowed to change clique composition, new clique name 'c' is not allowed`,
    ])
  })

  test('may be reordered if the order has no meaning', () => {
    assert.deepEqual(validate({ cliques: [c, b, a] }, { cliques: [a, b, c] }), [])
  })

  for (const cliqueStartupType of ['CliqueStartupTypeInOrder', 'CliqueStartupTypeExplicit'] as const) {
    test(`keep their order with ${cliqueStartupType}, and the error names the expected clique`, () => {
      const order = 'clique order cannot be changed when StartupType is InOrder or Explicit.'
      assert.deepEqual(
        validate({ cliqueStartupType, cliques: [c, b, a] }, { cliqueStartupType, cliques: [a, b, c] }),
        [
          `${Q}: Invalid value: "c": ${order} Expected 'a' at position 0, got 'c'`,
          `${Q}: Invalid value: "a": ${order} Expected 'c' at position 2, got 'a'`,
        ],
      )
    })
  }
})

describe('a stored clique keeps', () => {
  const containers = [{ name: 'main', image: 'i' }]
  const cases: [title: string, old: CliqueTemplate, now: CliqueTemplate, expected: string[]][] = [
    [
      'its role',
      clique('a'),
      clique('a', { roleName: 'other' }),
      [`${Q}.spec.roleName: Invalid value: "other": field is immutable`],
    ],
    [
      'minAvailable',
      clique('a', { minAvailable: 1 }),
      clique('a', { minAvailable: 2 }),
      [`${Q}.spec.minAvailable: Invalid value: 2: field is immutable`],
    ],
    [
      'minAvailable, which defaults to replicas',
      clique('a', { replicas: 2 }),
      clique('a', { replicas: 3 }),
      [`${Q}.spec.minAvailable: Invalid value: 3: field is immutable`],
    ],
    [
      'startsAfter, in this order',
      clique('a', { startsAfter: ['b', 'c'] }),
      clique('a', { startsAfter: ['c', 'b'] }),
      [`${Q}.spec.startsAfter: Invalid value: ["c","b"]: field is immutable`],
    ],
    [
      'startsAfter, which cannot be removed',
      clique('a', { startsAfter: ['b'] }),
      clique('a'),
      [`${Q}.spec.startsAfter: Invalid value: null: field is immutable`],
    ],
    ['startsAfter, absent or empty', clique('a', { startsAfter: [] }), clique('a', { replicas: 2 }), []],
    [
      'its scheduler as written',
      clique('a', { podSpec: { containers } }),
      clique('a', { podSpec: { containers, schedulerName: 'default-scheduler' } }),
      [`${Q}.spec.podSpec.schedulerName: Invalid value: "default-scheduler": field is immutable`],
    ],
    [
      'its shared claims',
      clique('a', {}, { resourceSharing: [{ name: 'x', scope: 'AllReplicas' }] }),
      clique('a', {}, { resourceSharing: [{ name: 'x', scope: 'PerReplica' }] }),
      [`${Q}[0].resourceSharing: Invalid value: [{"name":"x","scope":"PerReplica"}]: field is immutable`],
    ],
  ]
  for (const [title, old, now, expected] of cases) {
    test(title, () => {
      assert.deepEqual(validate({ cliques: [now] }, { cliques: [old] }), expected)
    })
  }
})

test('the startup type is immutable', () => {
  assert.deepEqual(
    validate(
      { cliqueStartupType: 'CliqueStartupTypeInOrder' },
      { cliqueStartupType: 'CliqueStartupTypeAnyOrder' },
    ),
    ['spec.template.cliqueStartupType: Invalid value: "CliqueStartupTypeInOrder": field is immutable'],
  )
})

describe('the scaling groups of a stored set', () => {
  const cliques = [clique('a'), clique('b')]
  const group = (name: string, rest: Partial<ScalingGroupTemplate> = {}): ScalingGroupTemplate => ({
    name,
    cliqueNames: ['a', 'b'],
    replicas: 2,
    minAvailable: 1,
    ...rest,
  })
  const validateGroups = (now: ScalingGroupTemplate[], old: ScalingGroupTemplate[]): string[] =>
    validate({ cliques, podCliqueScalingGroups: now }, { cliques, podCliqueScalingGroups: old })

  test('cannot be added or removed, which is then the only error', () => {
    assert.deepEqual(validateGroups([], [group('g', { minAvailable: 2 })]), [
      `${G}: Forbidden: not allowed to add or remove PodCliqueScalingGroupConfigs`,
    ])
  })

  test('keep their names', () => {
    assert.deepEqual(validateGroups([group('h')], [group('g')]), [
      `${G}.name: Forbidden: not allowed to change scaling group composition, new scaling group name 'h' is not allowed`,
    ])
  })

  test('keep their members in order', () => {
    assert.deepEqual(validateGroups([group('g', { cliqueNames: ['b', 'a'] })], [group('g')]), [
      `${G}.cliqueNames: Invalid value: ["b","a"]: field is immutable`,
    ])
  })

  test('keep minAvailable and shared claims', () => {
    assert.deepEqual(
      validateGroups(
        [group('g', { minAvailable: 2, resourceSharing: [{ name: 'x', scope: 'AllReplicas' }] })],
        [group('g')],
      ),
      [
        `${G}.minAvailable: Invalid value: 2: field is immutable`,
        `${G}.resourceSharing: Invalid value: [{"name":"x","scope":"AllReplicas"}]: field is immutable`,
      ],
    )
  })

  test('may change replicas, bounds, annotations and order', () => {
    const changed = group('g', {
      replicas: 3,
      scaleConfig: { minReplicas: 1, maxReplicas: 9 },
      annotations: { x: 'y' },
    })
    const other = group('h', { cliqueNames: ['b'] })
    assert.deepEqual(
      validateGroups(
        [other, { ...changed, cliqueNames: ['a'] }],
        [group('g', { cliqueNames: ['a'] }), other],
      ),
      [],
    )
  })
})

describe('the claims of a stored set', () => {
  const templates = (memory: string): Partial<PodCliqueSetTemplate> => ({
    resourceClaimTemplates: [
      {
        name: 'x',
        templateSpec: {
          spec: {
            devices: {
              requests: [
                { name: 'gpu', exactly: { deviceClassName: 'gpu', capacity: { requests: { memory } } } },
              ],
            },
          },
        },
      },
    ],
  })

  test('keep their templates, with quantities compared by amount', () => {
    assert.deepEqual(validate({ ...templates('1024Mi'), priorityClassName: 'p' }, templates('1Gi')), [])
    const [text, ...others] = validate(templates('2Gi'), templates('1Gi'))
    assert.ok(text?.startsWith('spec.template.resourceClaimTemplates: Invalid value: [{"name":"x",'), text)
    assert.ok(text?.endsWith(': field is immutable'), text)
    assert.deepEqual(others, [])
  })

  test('keep their sharing', () => {
    assert.deepEqual(validate({}, { resourceSharing: [{ name: 'x', scope: 'AllReplicas' }] }), [
      'spec.template.resourceSharing: Invalid value: null: field is immutable',
    ])
  })
})

test('all other fields may change', () => {
  const now = sampleSet(
    {
      cliques: [
        clique(
          'web',
          {
            replicas: 5,
            minAvailable: 2,
            autoScalingConfig: { maxReplicas: 9 },
            podSpec: { containers: [{ name: 'main', image: 'new' }], priorityClassName: 'high' },
          },
          { labels: { a: 'b' }, annotations: { c: 'd' } },
        ),
      ],
      terminationDelay: '1h',
      priorityClassName: 'high',
      headlessServiceConfig: { publishNotReadyAddresses: false },
    },
    { labels: { x: 'y' }, annotations: { x: 'y' }, finalizers: ['example.com/f'] },
    { replicas: 7, updateStrategy: { type: 'OnDelete' } },
  )
  assert.deepEqual(updateErrorsOf(now, sampleSet()), [])
})

test('an update is compared with the old object only if the new one is valid', () => {
  const now = {
    cliques: [clique('other', { roleName: 'x', replicas: -1, minAvailable: 1 })],
    terminationDelay: '0s',
  }
  assert.deepEqual(validate(now, {}), [
    `${Q}[0].spec.replicas: Invalid value: -1: must be greater than 0`,
    `${Q}[0].spec.minAvailable: Invalid value: 1: minAvailable must not be greater than replicas`,
    'spec.template.terminationDelay: Invalid value: "0s": terminationDelay must be greater than 0',
  ])
})
