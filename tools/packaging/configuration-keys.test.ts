// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defaultConfiguration, loadConfiguration } from '@grove/api'
import { configurationKeys } from './configuration-keys.ts'

/** The paths of all values; lists are values. */
function paths(value: unknown, path = ''): string[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [path]
  return Object.entries(value).flatMap(([name, member]) => paths(member, path ? `${path}.${name}` : name))
}

test('lists exactly the keys that have a default, and marks the others as optional', () => {
  const required = configurationKeys.filter(({ optional }) => !optional).map(({ path }) => path)
  assert.deepEqual(required.toSorted(), paths(defaultConfiguration()).toSorted())
})

test('lists no key that the operator does not know', () => {
  const samples = {
    text: 'x',
    boolean: true,
    integer: 1,
    number: 1,
    duration: '1s',
    texts: ['x'],
    object: {},
    profiles: [{ name: 'default-scheduler' }],
  }
  for (const { path, type, values } of configurationKeys) {
    const value = type === 'text' ? (values?.find(Boolean) ?? samples.text) : samples[type]
    const document = path.split('.').reduceRight<unknown>((child, name) => ({ [name]: child }), value)
    const loaded = loadConfiguration({
      apiVersion: 'operator.config.grove.io/v1alpha1',
      kind: 'OperatorConfiguration',
      ...(document as object),
    })
    assert.notEqual(loaded.outcome, 'undecodable', path)
    assert.deepEqual(loaded.outcome === 'undecodable' ? [] : loaded.warnings, [], path)
  }
})
