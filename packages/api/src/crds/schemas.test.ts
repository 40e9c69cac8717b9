// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { schemaPaths } from '../testing/schema-paths.ts'
import { type GroveKind, type StructuralSchema, schemaOf } from './index.ts'

const everyKind: GroveKind[] = [
  'PodClique',
  'PodCliqueSet',
  'PodCliqueScalingGroup',
  'ClusterTopologyBinding',
  'PodGang',
]

/** Below these paths the schemas come from Kubernetes. */
const embeddedPlaces = /(podSpec|templateSpec|metrics\[\])(\.|\[|\{)|^metadata$/

describe('every schema', () => {
  for (const kind of everyKind)
    test(`of ${kind} is structural`, () => {
      for (const [path, schema] of schemaPaths(schemaOf(kind))) assertStructural(path, schema)
    })

  for (const kind of everyKind)
    test(`of ${kind} has a description for every field of this API`, () => {
      for (const [path, { description }] of schemaPaths(schemaOf(kind))) {
        if (embeddedPlaces.test(path) || /(\[\]|\{\})$/.test(path)) continue
        assert.match(description ?? '', /^[A-Z`].*[.…]$/s, `${kind} ${path}`)
      }
    })

  test('preserves unknown fields in one place only', () => {
    const places = everyKind.flatMap(kind =>
      [...schemaPaths(schemaOf(kind))]
        .filter(([, schema]) => schema['x-kubernetes-preserve-unknown-fields'])
        .map(([path]) => `${kind} ${path}`),
    )
    assert.deepEqual(places, [
      'PodCliqueSet spec.template.resourceClaimTemplates[].templateSpec.spec.devices.config[].opaque.parameters',
    ])
  })
})

function assertStructural(path: string, schema: StructuralSchema): void {
  const isIntOrString = schema['x-kubernetes-int-or-string'] === true
  assert.ok(schema.type !== undefined || isIntOrString, `${path} has a type`)
  if (isIntOrString) assert.equal(schema.type, undefined, path)
  else assert.equal(schema.anyOf, undefined, path)
  if (schema.type === 'array') assert.ok(schema.items, `${path} has a schema for its items`)
  else assert.equal(schema.items, undefined, path)
  assert.ok(!(schema.properties && schema.additionalProperties), `${path} is an object or a map, not both`)
  for (const name of schema.required ?? []) assert.ok(schema.properties?.[name], `${path}.${name} exists`)
  const keys = schema['x-kubernetes-list-map-keys'] ?? []
  assert.equal(schema['x-kubernetes-list-type'] === 'map', keys.length > 0, path)
  for (const key of keys) {
    const isRequired = schema.items?.required?.includes(key)
    const hasDefault = schema.items?.properties?.[key]?.default !== undefined
    assert.ok(isRequired || hasDefault, `${path}: the key ${key} is always there`)
  }
}

describe('defaults', () => {
  const counters = (...names: string[]) => names.map(name => [name, 0] as const)
  const progress = (...names: string[]) => counters(...names.map(name => `status.updateProgress.${name}`))
  const table: [GroveKind, (readonly [string, unknown])[]][] = [
    [
      'PodCliqueSet',
      [
        ['spec.replicas', 0],
        ['spec.updateStrategy.type', 'RollingRecreate'],
        ['spec.template.cliqueStartupType', 'CliqueStartupTypeAnyOrder'],
        ['spec.template.headlessServiceConfig.publishNotReadyAddresses', true],
        ['spec.template.podCliqueScalingGroups[].replicas', 1],
        ['spec.template.podCliqueScalingGroups[].minAvailable', 1],
        ...counters('status.updatedReplicas', 'status.availableReplicas'),
        ...progress('updatedPodCliquesCount', 'totalPodCliquesCount'),
        ...progress('updatedPodCliqueScalingGroupsCount', 'totalPodCliqueScalingGroupsCount'),
      ],
    ],
    [
      'PodClique',
      [
        ...counters('status.readyReplicas', 'status.updatedReplicas'),
        ...counters('status.scheduleGatedReplicas', 'status.scheduledReplicas'),
      ],
    ],
    [
      'PodCliqueScalingGroup',
      [
        ['spec.replicas', 1],
        ['spec.minAvailable', 1],
        ...counters('status.scheduledReplicas', 'status.availableReplicas', 'status.updatedReplicas'),
        ...progress('updatedPodCliquesCount', 'totalPodCliquesCount'),
      ],
    ],
    ['ClusterTopologyBinding', []],
    ['PodGang', []],
  ]
  for (const [kind, wanted] of table)
    test(`of ${kind} are these and no others`, () => {
      const found = [...schemaPaths(schemaOf(kind))]
        .filter(([path, schema]) => !embeddedPlaces.test(path) && schema.default !== undefined)
        .map(([path, schema]) => [path, schema.default])
      assert.deepEqual(Object.fromEntries(found), Object.fromEntries(wanted))
    })
})

describe('CEL rules', () => {
  const constraint = [
    {
      rule: 'has(self.pack) || has(self.packDomain)',
      message: 'topologyConstraint must specify pack or deprecated packDomain',
      reason: 'FieldValueRequired',
      fieldPath: '.pack',
    },
    {
      rule: '!(has(self.packDomain) && has(self.pack) && has(self.pack.required))',
      message: 'must not set both pack.required and deprecated packDomain',
      fieldPath: '.pack.required',
    },
  ]
  const pack = [
    {
      rule: 'has(self.required) || has(self.preferred)',
      message: 'pack must specify at least one of required or preferred',
      reason: 'FieldValueRequired',
    },
  ]

  test('of a PodCliqueSet are on the three constraints and on the object', () => {
    const found = rulesOf('PodCliqueSet')
    const root = found.get('') ?? []
    found.delete('')
    assert.deepEqual(Object.fromEntries(found), {
      'spec.template.topologyConstraint': constraint,
      'spec.template.topologyConstraint.pack': pack,
      'spec.template.cliques[].topologyConstraint': constraint,
      'spec.template.cliques[].topologyConstraint.pack': pack,
      'spec.template.podCliqueScalingGroups[].topologyConstraint': constraint,
      'spec.template.podCliqueScalingGroups[].topologyConstraint.pack': pack,
    })
    assert.deepEqual(
      root.map(rule => rule.fieldPath),
      [
        '.spec.template.topologyConstraint.packDomain',
        '.spec.template.cliques',
        '.spec.template.podCliqueScalingGroups',
      ],
    )
    for (const { rule, message, reason, optionalOldSelf } of root) {
      assert.ok(rule.startsWith('oldSelf.hasValue() || '), 'an update is never rejected')
      assert.equal(message, 'packDomain is deprecated and cannot be used on new workloads; use pack.required')
      assert.equal(reason, 'FieldValueForbidden')
      assert.equal(optionalOldSelf, true)
    }
  })

  test('exist on no other kind', () => {
    for (const kind of everyKind) if (kind !== 'PodCliqueSet') assert.equal(rulesOf(kind).size, 0, kind)
  })

  function rulesOf(kind: GroveKind) {
    return new Map(
      [...schemaPaths(schemaOf(kind))].flatMap(([path, schema]) => {
        const rules = schema['x-kubernetes-validations']
        return rules ? [[path, rules] as const] : []
      }),
    )
  }
})
