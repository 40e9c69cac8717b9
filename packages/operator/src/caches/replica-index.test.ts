// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { label } from '@grove/api'
import type { KubeObject, Resource, Stored } from '@grove/kube'
import { byReplica, groupReplicaKey, setReplicaKey, withinReplicas } from './replica-index.ts'

const object = (name: string, labels: Record<string, string>) =>
  ({ metadata: { name, namespace: 'serving', labels } }) as unknown as Stored<KubeObject>

test('an object is found by the replica of its set and of its scaling group', () => {
  const member = object('a', {
    [label.partOf]: 'w',
    [label.setReplicaIndex]: '1',
    [label.scalingGroup]: 'w-1-g',
    [label.scalingGroupReplicaIndex]: '3',
  })
  assert.deepEqual(byReplica(member), [
    setReplicaKey('serving', 'w', 1),
    groupReplicaKey('serving', 'w-1-g', 3),
  ])
  assert.deepEqual(byReplica(object('b', { [label.partOf]: 'w' })), [])
  assert.deepEqual(byReplica(object('c', {})), [])
})

test('a set and a scaling group of the same name have different keys', () => {
  assert.notEqual(setReplicaKey('serving', 'w', 0), groupReplicaKey('serving', 'w', 0))
})

test('only objects of the named replicas are listed', () => {
  const listed: string[] = []
  const cache = {
    resource: {} as Resource<KubeObject>,
    byIndex: (_: 'replica', key: string) => {
      listed.push(key)
      return [object(key, {})]
    },
  }
  const names = (keys: readonly string[]) =>
    withinReplicas(cache, keys)
      .list('serving')
      .map(({ metadata }) => metadata.name)
  assert.deepEqual(names(['x', 'y']), ['x', 'y'])
  assert.deepEqual(names([]), [])
  assert.deepEqual(listed, ['x', 'y'])
})
