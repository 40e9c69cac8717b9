// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { KubeObject } from '../object.ts'
import { ChangesForgotten } from './change-log.ts'
import { MemoryStore } from './memory-store.ts'

const object = (name: string, value = ''): KubeObject => ({
  kind: 'Thing',
  apiVersion: 'v1',
  metadata: { name },
  value,
})

function put(store: MemoryStore, key: string, value = ''): void {
  assert.equal(store.write('things', key, object(key, value), store.get('things', key)), true)
}

describe('the store', () => {
  it('gives every write the next revision, across all resources', () => {
    const store = new MemoryStore()
    const start = store.revision
    put(store, 'a')
    store.write('others', 'x', object('x'), undefined)
    assert.equal(store.get('things', 'a')?.metadata.resourceVersion, String(start + 1))
    assert.equal(store.get('others', 'x')?.metadata.resourceVersion, String(start + 2))
    assert.equal(store.revision, start + 2)
  })

  it('rejects a write that is not based on the current object', () => {
    const store = new MemoryStore()
    put(store, 'a')
    const seen = store.get('things', 'a')
    put(store, 'a', 'newer')
    assert.equal(store.write('things', 'a', object('a', 'mine'), seen), false)
    assert.equal(store.remove('things', 'a', seen!), undefined)
    assert.equal(store.get('things', 'a')?.value, 'newer')
  })

  it('freezes stored objects', () => {
    const store = new MemoryStore()
    put(store, 'a')
    assert.throws(() => {
      store.get('things', 'a')!.metadata.name = 'b'
    }, TypeError)
  })

  it('lists any revision within its window', () => {
    const operation = fc.record({ key: fc.constantFrom('a', 'b', 'c', 'd'), remove: fc.boolean() })
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 40 }), operations => {
        const store = new MemoryStore()
        const moments: { revision: number; items: readonly KubeObject[] }[] = []
        for (const [index, { key, remove }] of operations.entries()) {
          const live = store.get('things', key)
          if (remove && live) store.remove('things', key, live)
          else put(store, key, String(index))
          moments.push({ revision: store.revision, items: store.list('things', { prefix: '' }).items })
        }
        for (const { revision, items } of moments)
          assert.deepEqual(store.list('things', { prefix: '', revision }).items, items)
      }),
    )
  })

  it('pages through a range in key order', () => {
    const store = new MemoryStore()
    for (const key of ['n/b', 'n/a', 'm/z', 'n-x/y', 'n/c']) put(store, key)
    const first = store.list('things', { prefix: 'n/', limit: 2 })
    assert.deepEqual(
      first.items.map(({ metadata }) => metadata.name),
      ['n/a', 'n/b'],
    )
    assert.equal(first.remaining, 1)
    const rest = store.list('things', { prefix: 'n/', start: first.next })
    assert.deepEqual(
      rest.items.map(({ metadata }) => metadata.name),
      ['n/c'],
    )
    assert.equal(rest.next, undefined)
  })

  it('lets every watch read all changes at its own pace', () => {
    const store = new MemoryStore()
    put(store, 'before')
    let woken = 0
    const fast = store.watch('things', store.revision, () => woken++)
    const slow = store.watch('things', store.revision, () => {})
    assert.deepEqual(fast.take(10), [])
    put(store, 'a')
    put(store, 'a', 'changed')
    store.remove('things', 'a', store.get('things', 'a')!)
    assert.equal(woken, 1)
    assert.deepEqual(
      fast.take(10).map(({ type }) => type),
      ['ADDED', 'MODIFIED', 'DELETED'],
    )
    assert.deepEqual(
      slow.take(2).map(({ type }) => type),
      ['ADDED', 'MODIFIED'],
    )
    assert.deepEqual(
      slow.take(2).map(({ type }) => type),
      ['DELETED'],
    )
  })

  it('drops old changes, and reports this to readers that need them', () => {
    const store = new MemoryStore({ window: 10 })
    const start = store.revision
    const behind = store.watch('things', start, () => {})
    for (let index = 0; index < 50; index++) put(store, 'a', String(index))
    assert.throws(() => store.watch('things', start, () => {}), ChangesForgotten)
    assert.throws(() => behind.take(1), ChangesForgotten)
    assert.throws(() => store.list('things', { prefix: '', revision: start + 1 }), ChangesForgotten)
    assert.doesNotThrow(() => store.watch('things', store.revision - 5, () => {}))
  })

  it('drops changes on compaction', () => {
    const store = new MemoryStore()
    put(store, 'a')
    const then = store.revision
    put(store, 'a', 'b')
    store.compact(store.revision)
    assert.throws(() => store.watch('things', then, () => {}), ChangesForgotten)
  })

  it('calls observers for every commit in order', () => {
    const store = new MemoryStore()
    const seen: string[] = []
    const stop = store.observe(({ type, key }) => seen.push(`${type} ${key}`))
    put(store, 'a')
    store.remove('things', 'a', store.get('things', 'a')!)
    stop()
    put(store, 'b')
    assert.deepEqual(seen, ['ADDED a', 'DELETED a'])
  })
})
