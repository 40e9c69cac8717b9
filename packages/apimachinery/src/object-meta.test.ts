// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { renderFieldError } from './field-error.ts'
import { validateObjectMeta, validateObjectMetaUpdate } from './object-meta.ts'

const namespaced = { namespaced: true }

function onCreate(metadata: unknown, rules = namespaced): string[] {
  return validateObjectMeta(metadata, rules).map(renderFieldError)
}

function onUpdate(metadata: unknown, old: unknown): string[] {
  return validateObjectMetaUpdate(metadata, old).map(renderFieldError)
}

test('a name is required and must be a DNS subdomain', () => {
  assert.deepEqual(onCreate({ name: 'a', namespace: 'b' }), [])
  assert.deepEqual(onCreate({ namespace: 'b' }), [
    'metadata.name: Required value: name or generateName is required',
  ])
  assert.match(
    onCreate({ name: 'A', namespace: 'b' })[0]!,
    /^metadata\.name: Invalid value: "A": a lowercase/,
  )
})

test('a generated name may end with a dash but not consist of one', () => {
  assert.deepEqual(onCreate({ name: 'a-x', generateName: 'a-', namespace: 'b' }), [])
  assert.match(
    onCreate({ name: 'x', generateName: '-', namespace: 'b' })[0]!,
    /^metadata\.generateName: Invalid/,
  )
})

test('only namespaced objects have a namespace', () => {
  assert.deepEqual(onCreate({ name: 'a' }), ['metadata.namespace: Required value'])
  assert.deepEqual(onCreate({ name: 'a', namespace: 'b.c' }), [
    'metadata.namespace: Invalid value: "b.c": must not contain dots',
  ])
  assert.deepEqual(onCreate({ name: 'a', namespace: 'b' }, { namespaced: false }), [
    'metadata.namespace: Forbidden: not allowed on this type',
  ])
})

test('a generation is never negative', () => {
  assert.deepEqual(onCreate({ name: 'a', namespace: 'b', generation: -1 }), [
    'metadata.generation: Invalid value: -1: must be greater than or equal to 0',
  ])
})

test('an owner reference is complete, does not refer to an event, and only one owner is the controller', () => {
  const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'c', uid: 'u', controller: true }
  const second = { ...owner, name: 'd' }
  assert.deepEqual(onCreate({ name: 'a', namespace: 'b', ownerReferences: [owner, second] }), [
    'metadata.ownerReferences: Invalid value: [{"apiVersion":"v1","kind":"ConfigMap","name":"c","uid":"u","controller":true},{"apiVersion":"v1","kind":"ConfigMap","name":"d","uid":"u","controller":true}]: Only one reference can have Controller set to true. Found "true" in references for ConfigMap/c and ConfigMap/d',
  ])
  assert.deepEqual(onCreate({ name: 'a', namespace: 'b', ownerReferences: [{ apiVersion: 'a/b/c' }] }), [
    'metadata.ownerReferences[0].apiVersion: Invalid value: "a/b/c": must be <group>/<version> or <version>',
    'metadata.ownerReferences[0].kind: Required value: must not be empty',
    'metadata.ownerReferences[0].name: Required value: must not be empty',
    'metadata.ownerReferences[0].uid: Required value: must not be empty',
  ])
  const event = { apiVersion: 'v1', kind: 'Event', name: 'e', uid: 'u' }
  assert.match(
    onCreate({ name: 'a', namespace: 'b', ownerReferences: [event] })[0]!,
    /Kind=Event is disallowed from being an owner$/,
  )
})

test('a finalizer is a qualified name, and orphan excludes foregroundDeletion', () => {
  assert.deepEqual(
    onCreate({ name: 'a', namespace: 'b', finalizers: ['orphan', 'foregroundDeletion', 'example.com/x'] }),
    [
      'metadata.finalizers: Invalid value: ["orphan","foregroundDeletion","example.com/x"]: finalizer orphan and foregroundDeletion cannot be both set',
    ],
  )
  assert.match(onCreate({ name: 'a', namespace: 'b', finalizers: ['a b'] })[0]!, /name part must consist/)
})

test('an entry of managedFields has a valid operation', () => {
  const managedFields = [{ operation: 'Guess', fieldsType: 'X', manager: 'm'.repeat(129) }, {}]
  assert.deepEqual(onCreate({ name: 'a', namespace: 'b', managedFields }), [
    'metadata.managedFields[0].operation: Unsupported value: "Guess": supported values: "Apply", "Update"',
    'metadata.managedFields[0].fieldsType: Invalid value: "X": must be `FieldsV1`',
    'metadata.managedFields[0].manager: Too long: may not be more than 128 bytes',
    'metadata.managedFields[1].operation: Required value: must not be empty',
  ])
})

test('an update keeps the identity of the object', () => {
  const old = { name: 'a', namespace: 'b', uid: 'u', generation: 2, creationTimestamp: 't' }
  assert.deepEqual(onUpdate({ ...old, labels: { a: 'b' } }, old), [])
  assert.deepEqual(onUpdate({ ...old, name: 'c', uid: 'v', creationTimestamp: 'x', generation: 1 }, old), [
    'metadata.generation: Invalid value: 1: must not be decremented',
    'metadata.name: Invalid value: "c": field is immutable',
    'metadata.uid: Invalid value: "v": field is immutable',
    'metadata.creationTimestamp: Invalid value: "x": field is immutable',
  ])
})

test('an object that is being deleted gets no new finalizers', () => {
  const old = { name: 'a', namespace: 'b', deletionTimestamp: 't', finalizers: ['example.com/x'] }
  assert.deepEqual(onUpdate({ ...old, finalizers: [] }, old), [])
  assert.deepEqual(onUpdate({ ...old, finalizers: ['example.com/x', 'example.com/y'] }, old), [
    'metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"example.com/y"}',
  ])
})

test('validation never throws', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (metadata, old) => {
      onCreate(metadata)
      onUpdate(metadata, old)
    }),
  )
})
