// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { renderFieldError } from '@grove/apimachinery'
import { defaultConfiguration } from '../configuration/index.ts'
import { configurationWith } from '../testing/sample-sets.ts'
import type { ClusterTopologyBinding } from '../types/index.ts'
import { emptyCluster } from './cluster-view.ts'
import { validateClusterTopologyBinding } from './clustertopologybinding.ts'
import { admit } from './review.ts'

function validate(
  levels: [domain: string, key: string][],
  schedulers: string[] = [],
  enabled: string[] = [],
): string[] {
  const binding: ClusterTopologyBinding = {
    apiVersion: 'grove.io/v1alpha1',
    kind: 'ClusterTopologyBinding',
    metadata: { name: 'site' },
    spec: {
      levels: levels.map(([domain, key]) => ({ domain, key })),
      schedulerTopologyBindings: schedulers.map(schedulerName => ({ schedulerName, topologyReference: 'x' })),
    },
  }
  return validateClusterTopologyBinding(binding, configurationWith({ schedulers: enabled })).map(
    renderFieldError,
  )
}

const scheduler = (index: number): string => `spec.schedulerTopologyReferences[${index}].schedulerName`

test('levels have different domains and different keys', () => {
  assert.deepEqual(
    validate([
      ['zone', 'a'],
      ['rack', 'b'],
    ]),
    [],
  )
  assert.deepEqual(
    validate([
      ['zone', 'a'],
      ['zone', 'b'],
      ['rack', 'a'],
      ['zone', 'a'],
    ]),
    [
      'spec.levels[1].domain: Duplicate value: "zone"',
      'spec.levels[2].key: Duplicate value: "a"',
      'spec.levels[3].domain: Duplicate value: "zone"',
      'spec.levels[3].key: Duplicate value: "a"',
    ],
  )
})

test('a scheduler is bound once, and only if it is enabled and has a topology object of its own', () => {
  const enabled = ['kai-scheduler', 'volcano', 'lpx-scheduler']
  assert.deepEqual(validate([], ['kai-scheduler'], enabled), [])
  assert.deepEqual(validate([], ['kai-scheduler', 'kai-scheduler'], enabled), [
    `${scheduler(1)}: Duplicate value: "kai-scheduler"`,
  ])
  assert.deepEqual(validate([], ['kai-scheduler', '', 'kai-scheduler']), [
    `${scheduler(0)}: Invalid value: "kai-scheduler": scheduler backend is not enabled in Grove`,
    `${scheduler(1)}: Invalid value: "": scheduler backend is not enabled in Grove`,
    `${scheduler(2)}: Duplicate value: "kai-scheduler"`,
    `${scheduler(2)}: Invalid value: "kai-scheduler": scheduler backend is not enabled in Grove`,
  ])
  for (const name of ['default-scheduler', 'volcano', 'lpx-scheduler']) {
    assert.deepEqual(validate([], [name], enabled), [
      `${scheduler(0)}: Invalid value: "${name}": scheduler backend does not implement topology-aware scheduling`,
    ])
  }
})

test('keys have the length limits of node labels: a prefix of 253 characters and a name of 63', () => {
  const errorsFor = (key: string) =>
    admit(
      {
        operation: 'CREATE',
        kind: 'ClusterTopologyBinding',
        object: {
          apiVersion: 'grove.io/v1alpha1',
          kind: 'ClusterTopologyBinding',
          metadata: { name: 'site' },
          spec: { levels: [{ domain: 'rack', key }] },
        },
      },
      { configuration: defaultConfiguration(), cluster: emptyCluster },
    )
  const prefix = `${'topology-'.repeat(27)}.example.c`
  assert.equal(prefix.length, 253)
  assert.equal(errorsFor(`${prefix}/${'k'.repeat(63)}`).allowed, true)
  assert.equal(errorsFor(`${prefix}x/${'k'.repeat(63)}`).allowed, false)
})

test('an object that no API server has checked is validated without an exception', () => {
  for (const object of [null, 5, {}, { spec: null }, { spec: { levels: 5 } }, { spec: { levels: [null] } }])
    assert.deepEqual(
      validateClusterTopologyBinding(object as never, defaultConfiguration()),
      [],
      JSON.stringify(object),
    )
})
