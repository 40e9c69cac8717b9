// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject, Stored } from '@grove/kube'
import { mostCreated } from '../apply/writes.ts'
import { wantedObject } from '../objects/wanted-child.ts'
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
    wanted: want.map(wantedObject),
    existing: have,
    ownerUid: 'owner',
    patch: (object, other) => metadataPatch(object, other, ['labels']),
  })

const names = (objects: readonly KubeObject[]) => objects.map(object => object.metadata?.name)

test('compares children by name, not by count', () => {
  const result = plan([wanted('a'), wanted('b')], [existing('b'), existing('c')])
  assert.deepEqual([names(result.create), names(result.remove)], [['a'], ['c']])
})

test('a terminating child is neither patched nor created again', () => {
  const result = plan([wanted('a', { x: 'y' })], [existing('a', { deletionTimestamp: 'now' })])
  assert.deepEqual([result.create, result.patch, names(result.terminating)], [[], [], ['a']])
})

test('does not touch an object of another owner with a wanted name, and reports it', () => {
  const foreign = existing('a', { ownerReferences: [] })
  const result = plan([wanted('a')], [foreign, existing('z', { ownerReferences: [] })])
  assert.deepEqual([names(result.taken), result.create, result.remove], [['a'], [], []])
})

test('writes nothing for equal children', () => {
  const result = plan([wanted('a', { x: 'y' })], [existing('a', { labels: { x: 'y' } })])
  assert.deepEqual(result, { create: [], patch: [], remove: [], taken: [], terminating: [], later: 0 })
})

test('builds at most the children that exist or are created now, and deletes no wanted child', () => {
  let built = 0
  const result = planChildren({
    wanted: Iterator.from({
      *[Symbol.iterator]() {
        for (let at = 0; at < 100_000; at++)
          yield {
            name: `c${at}`,
            build: () => {
              built++
              return wanted(`c${at}`)
            },
          }
      },
    }),
    existing: [existing('c0'), existing('c99999'), existing('z')],
    ownerUid: 'owner',
  })
  assert.deepEqual([result.create.length, built, names(result.remove)], [mostCreated, mostCreated + 2, ['z']])
  assert.equal(result.create[0]?.metadata?.name, 'c1')
})
