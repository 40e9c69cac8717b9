// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type JsonObject, trackUpdate } from '@grove/apimachinery'
import type { KubeObject } from '../object.ts'
import { builtInResources } from '../registry/kinds/index.ts'
import { creationOwner } from './creation-owner.ts'
import { ownedKindOf } from './owned-kind.ts'

const pods = builtInResources().find(({ plural, group }) => plural === 'pods' && group === '')!
const kind = ownedKindOf(pods, '')
const write = { resource: pods, subresource: '', manager: 'me', now: '2026-01-01T00:00:00Z' }

function pod(metadata: object, container: object, spec: object = {}): KubeObject {
  const value: JsonObject = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', ...metadata },
    spec: { containers: [{ name: 'main', image: 'i', ...container }], ...spec },
  }
  const { object } = pods.codec.decode(value)
  pods.codec.applyDefaults(object)
  return object
}

function owner(object: KubeObject) {
  const known = creationOwner(kind, object, write)
  const worked = trackUpdate({ kind, live: undefined, object, manager: write.manager, time: write.now })
  assert.deepEqual(known, worked)
  return known![0]!
}

test('objects with the same fields share one managedFields entry, whatever their values are', () => {
  const first = owner(pod({ name: 'a', labels: { index: '1' } }, { image: 'i:1' }))
  const second = owner(pod({ name: 'b', labels: { index: '2' } }, { image: 'i:2' }))
  assert.equal(second.fieldsV1, first.fieldsV1)
})

test('objects with different fields do not share an entry', () => {
  const different = [
    pod({}, {}),
    pod({ labels: {} }, {}),
    pod({ labels: { a: 'b' } }, {}),
    pod({ labels: { c: 'b' } }, {}),
    pod({ labels: { a: '' } }, {}),
    pod({ finalizers: ['a.b/c'] }, {}),
    pod({ finalizers: ['a.b/d'] }, {}),
    pod({ ownerReferences: [{ apiVersion: 'v1', kind: 'K', name: 'o', uid: '1' }] }, {}),
    pod({ ownerReferences: [{ apiVersion: 'v1', kind: 'K', name: 'o', uid: '2' }] }, {}),
    pod({}, { ports: [{ containerPort: 80 }] }),
    pod({}, { ports: [{ containerPort: 81 }] }),
    pod({}, { ports: [{ containerPort: 80, protocol: 'UDP' }] }),
    pod({}, { ports: [{ containerPort: 80 }, { containerPort: 80 }] }),
    pod({}, { env: [{ name: 'A', value: '' }] }),
    pod({}, { env: [{ name: 'A', value: 'a' }] }),
    pod({}, { command: ['a'] }),
    pod({}, { resources: { limits: { cpu: '1' } } }),
    pod({}, {}, { nodeSelector: { a: 'b' } }),
    pod({}, {}, { tolerations: [{ operator: 'Exists' }], hostNetwork: false }),
    pod({}, {}, { volumes: [{ name: 'v', emptyDir: {} }] }),
    pod({}, {}, { volumes: [{ name: 'v', emptyDir: { medium: 'Memory' } }] }),
  ]
  // Twice: the first round computes, the second uses the remembered shape.
  for (const object of [...different, ...different]) owner(object)
})

test('computes forgotten shapes again', () => {
  for (let i = 0; i < 2_100; i++) owner(pod({ labels: { [`key-${i % 1_050}`]: 'v' } }, {}))
})
