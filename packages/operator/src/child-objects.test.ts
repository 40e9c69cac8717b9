// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject, Stored } from '@grove/kube'
import { metadataPatch, planChildren } from './child-objects.ts'

const wanted = (name: string, labels: Record<string, string> = {}): KubeObject => ({
  metadata: { name, labels },
})

function existing(name: string, rest: Partial<Stored['metadata']> = {}): Stored {
  return {
    metadata: {
      name,
      uid: `${name}-uid`,
      resourceVersion: '1',
      ownerReferences: [{ apiVersion: 'v1', kind: 'Owner', name: 'o', uid: 'owner', controller: true }],
      ...rest,
    },
  }
}

const plan = (want: KubeObject[], have: Stored[]) =>
  planChildren({
    wanted: want,
    existing: have,
    ownerUid: 'owner',
    prune: true,
    patch: (object, other) => metadataPatch(object, other, ['labels']),
  })

const names = (objects: readonly KubeObject[]) => objects.map(object => object.metadata?.name)

test('children are compared by name, not by number', () => {
  const result = plan([wanted('a'), wanted('b')], [existing('b'), existing('c')])
  assert.deepEqual([names(result.create), names(result.remove)], [['a'], ['c']])
})

test('a child that is on its way out is neither patched nor made again', () => {
  const result = plan([wanted('a', { x: 'y' })], [existing('a', { deletionTimestamp: 'now' })])
  assert.deepEqual([result.create, result.patch, names(result.leaving)], [[], [], ['a']])
})

test('a namesake of another owner is not touched but named', () => {
  const foreign = existing('a', { ownerReferences: [] })
  const result = plan([wanted('a')], [foreign, existing('z', { ownerReferences: [] })])
  assert.deepEqual([names(result.taken), result.create, result.remove], [['a'], [], []])
})

test('nothing is written when nothing differs', () => {
  const result = plan([wanted('a', { x: 'y' })], [existing('a', { labels: { x: 'y' } })])
  assert.deepEqual(result, { create: [], patch: [], remove: [], taken: [], leaving: [] })
})
