// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defaultConfiguration } from '@grove/api'
import { operatorClusterRole } from './cluster-role.ts'

const configuration = defaultConfiguration()
const granted = (resource: string, autoMNNVLEnabled = false) => {
  const network = { ...configuration.network, autoMNNVLEnabled }
  const { rules } = operatorClusterRole({ ...configuration, network })
  return rules?.filter(rule => rule.resources?.includes(resource)).flatMap(rule => rule.verbs) ?? []
}

test('NVLink domains can be let go of whether the feature is on or off, and never all at once', () => {
  for (const enabled of [false, true]) {
    const verbs = granted('computedomains', enabled)
    for (const verb of ['get', 'list', 'watch', 'create', 'patch', 'delete'])
      assert.ok(verbs.includes(verb), verb)
    assert.ok(!verbs.includes('deletecollection'))
  }
})

test('claim templates are only read, and Secrets never listed or watched', () => {
  assert.deepEqual(granted('resourceclaimtemplates'), ['get', 'list', 'watch'])
  for (const verb of ['list', 'watch', 'update', 'patch']) assert.ok(!granted('secrets').includes(verb), verb)
})
