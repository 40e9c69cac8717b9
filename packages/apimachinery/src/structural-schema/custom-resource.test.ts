// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { renderFieldError } from '../field-error.ts'
import { compileSchema } from './compile.ts'
import { type CustomResourceType, validateCustomResource } from './custom-resource.ts'

const sampleSchema: CustomResourceType = {
  apiVersion: 'bakery.example.com/v1',
  kind: 'Oven',
  namespaced: true,
  scale: {
    specReplicasPath: '.spec.replicas',
    statusReplicasPath: '.status.replicas',
    labelSelectorPath: '.status.selector',
  },
  schema: compileSchema({
    type: 'object',
    required: ['spec'],
    properties: {
      spec: {
        type: 'object',
        properties: { replicas: { type: 'integer' }, mode: { type: 'string', enum: ['Hot', 'Cold'] } },
        'x-kubernetes-validations': [{ rule: 'self.replicas < 3', message: 'too hot' }],
      },
    },
  }),
}

const valid = {
  apiVersion: sampleSchema.apiVersion,
  kind: sampleSchema.kind,
  metadata: { name: 'a', namespace: 'b' },
  spec: { replicas: 1 },
}

function errors(object: unknown, old?: unknown): string[] {
  return validateCustomResource(sampleSchema, object, old).map(renderFieldError)
}

const rulesNotChecked =
  '<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation'

test('a valid object has no errors', () => {
  assert.deepEqual(errors(valid), [])
  assert.deepEqual(errors(valid, valid), [])
})

test('another apiVersion or kind is rejected before any other validation', () => {
  assert.deepEqual(errors({ ...valid, kind: 'Stove', spec: 1 }), [
    'kind: Invalid value: "Stove": must be Oven',
  ])
  assert.deepEqual(errors([]), [
    'kind: Invalid value: "": must be Oven',
    'apiVersion: Invalid value: "": must be bakery.example.com/v1',
  ])
})

test('errors have the order metadata, schema, scale, rules', () => {
  assert.deepEqual(
    errors({ ...valid, metadata: { name: 'A', namespace: 'b' }, spec: { replicas: -1, mode: 'Warm' } }).map(
      text => text.split(':')[0],
    ),
    ['metadata.name', 'spec.mode', '.spec.replicas', '<nil>'],
  )
})

test('the path of the scale subresource must contain a valid number', () => {
  assert.deepEqual(errors({ ...valid, spec: { replicas: -1 } }), [
    '.spec.replicas: Invalid value: -1: should be a non-negative integer',
  ])
  assert.ok(
    errors({ ...valid, status: { replicas: 2 ** 31, selector: 5 } }).includes(
      '.status.replicas: Invalid value: 2147483648: should be less than or equal to 2147483647',
    ),
  )
})

test('rules are not evaluated on an object with a wrong shape', () => {
  const hot = { ...valid, spec: { replicas: 5 } }
  assert.deepEqual(errors(hot), ['spec: Invalid value: too hot'])
  assert.deepEqual(errors({ ...hot, spec: { replicas: 5, mode: 'Warm' } }).at(-1), rulesNotChecked)
  assert.deepEqual(errors({ ...hot, metadata: { namespace: 'b' } }), [
    'metadata.name: Required value: name or generateName is required',
    rulesNotChecked,
  ])
  assert.deepEqual(
    errors({ ...hot, metadata: { name: 'A', namespace: 'b' } }).at(-1),
    'spec: Invalid value: too hot',
  )
})

test('metadata that only the API server sets is not validated', () => {
  const metadata = { ...valid.metadata, generation: -1, managedFields: [{ operation: 'Guess' }] }
  assert.deepEqual(errors({ ...valid, metadata }), [])
})

test('an update keeps the name', () => {
  assert.deepEqual(errors({ ...valid, metadata: { name: 'c', namespace: 'b' } }, valid), [
    'metadata.name: Invalid value: "c": field is immutable',
  ])
})
