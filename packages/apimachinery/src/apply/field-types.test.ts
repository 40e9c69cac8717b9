// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  emptyObject,
  encodeFieldsV1,
  fieldTypeOfSchema,
  fieldTypeOfStruct,
  type GoField,
  type GoStruct,
  type GoType,
  openApiFieldTypes,
  toFieldSet,
} from './index.ts'

const text: GoType = { kind: 'scalar', scalar: 'string' }

function field(type: GoType, extra: Partial<GoField> = {}): GoField {
  return {
    type,
    pointer: false,
    omitEmpty: true,
    omitZero: false,
    patchStrategies: [],
    patchMergeKey: undefined,
    listType: undefined,
    listMapKeys: [],
    structType: undefined,
    ...extra,
  }
}

function struct(name: string, fields: Record<string, GoField>): GoStruct {
  return { name, fields: new Map(Object.entries(fields)) }
}

const port = struct('core/v1.ContainerPort', {
  containerPort: field({ kind: 'scalar', scalar: 'int32' }, { omitEmpty: false }),
  protocol: field(text),
})
const container = struct('core/v1.Container', {
  name: field(text, { omitEmpty: false }),
  ports: field(
    { kind: 'list', of: { kind: 'struct', struct: port } },
    { listType: 'map', listMapKeys: ['containerPort', 'protocol'] },
  ),
  args: field({ kind: 'list', of: text }),
  resources: field({ kind: 'struct', struct: struct('core/v1.Resources', {}) }),
})
const pod = struct('core/v1.Pod', {
  metadata: field({ kind: 'struct', struct: struct('meta/v1.ObjectMeta', { name: field(text) }) }),
  since: field({ kind: 'scalar', scalar: 'time' }, { omitZero: true }),
  at: field({ kind: 'scalar', scalar: 'time' }, { omitEmpty: false }),
  containers: field(
    { kind: 'list', of: { kind: 'struct', struct: container } },
    { omitEmpty: false, patchStrategies: ['merge'], patchMergeKey: 'name' },
  ),
  selector: field(
    {
      kind: 'struct',
      struct: struct('meta/v1.LabelSelector', { matchLabels: field({ kind: 'map', of: text }) }),
    },
    { pointer: true },
  ),
})

describe('types of built-in kinds', () => {
  test('have list keys with defaults, and atomic structs', () => {
    const value = {
      containers: [{ name: 'a', ports: [{ containerPort: 80 }], args: ['x'], resources: {} }],
      selector: { matchLabels: { a: 'b' } },
    }
    assert.deepEqual(encodeFieldsV1(toFieldSet(value, fieldTypeOfStruct(pod))), {
      'f:containers': {
        'k:{"name":"a"}': {
          '.': {},
          'f:args': {},
          'f:name': {},
          'f:ports': { 'k:{"containerPort":80,"protocol":"TCP"}': { '.': {}, 'f:containerPort': {} } },
          'f:resources': {},
        },
      },
      'f:selector': {},
    })
  })
  test('have an empty object with the fields that Go always encodes', () => {
    assert.deepEqual(emptyObject(pod, 'v1', 'Pod'), {
      kind: 'Pod',
      apiVersion: 'v1',
      metadata: {},
      at: null,
      containers: null,
    })
  })
})

describe('types of OpenAPI schemas', () => {
  test('without a schema, objects are merged and lists are atomic', () => {
    const value = { a: { b: [1], c: {} } }
    assert.deepEqual(encodeFieldsV1(toFieldSet(value, fieldTypeOfSchema(undefined))), {
      'f:a': { '.': {}, 'f:b': {}, 'f:c': {} },
    })
  })
  test('embedded resources have metadata', () => {
    const type = fieldTypeOfSchema({
      type: 'object',
      properties: { template: { type: 'object', 'x-kubernetes-embedded-resource': true, properties: {} } },
    })
    const value = { template: { metadata: { finalizers: ['a'], labels: { b: 'c' } } } }
    assert.deepEqual(encodeFieldsV1(toFieldSet(value, type)), {
      'f:template': { 'f:metadata': { 'f:finalizers': { 'v:"a"': {} }, 'f:labels': { 'f:b': {} } } },
    })
  })
  test('may be recursive, and may declare a field as atomic', () => {
    const named = openApiFieldTypes({
      Node: {
        type: 'object',
        properties: {
          next: { allOf: [{ $ref: '#/components/schemas/Node' }], default: {} },
          whole: { allOf: [{ $ref: '#/components/schemas/Node' }], 'x-kubernetes-map-type': 'atomic' },
          name: { type: 'string' },
        },
      },
    })
    const value = { next: { next: { name: 'a' } }, whole: { name: 'b' } }
    assert.deepEqual(encodeFieldsV1(toFieldSet(value, named('Node'))), {
      'f:next': { 'f:next': { 'f:name': {} } },
      'f:whole': {},
    })
    assert.throws(() => named('Other'), /Other is not in the OpenAPI document/)
  })
})
