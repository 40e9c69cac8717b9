// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { KubeObject, Stored } from '../client/index.ts'
import { IndexedStore } from './indexed-store.ts'
import { compareResourceVersions } from './resource-version.ts'

interface Item extends KubeObject {
  readonly keys: readonly string[]
}

const name = fc.constantFrom('a', 'b', 'c', 'd')
const namespace = fc.constantFrom('x', 'y', undefined)
const keys = fc.uniqueArray(fc.constantFrom('1', '2', '3'))
const step = fc.record({ name, namespace, keys: fc.option(keys) })

describe('IndexedStore', () => {
  it('finds the same objects by index as by a full search', () => {
    fc.assert(
      fc.property(fc.array(step, { size: 'max', maxLength: 60 }), steps => {
        const store = new IndexedStore<Item, 'many' | 'one'>({
          many: object => object.keys,
          one: object => object.keys[0],
        })
        const model = new Map<string, Stored<Item>>()
        for (const { keys, ...ref } of steps) {
          const id = `${ref.namespace}/${ref.name}`
          if (keys) {
            const object = { metadata: { ...ref, uid: id, resourceVersion: '1' }, keys }
            assert.equal(store.put(object), model.get(id))
            model.set(id, object)
          } else {
            assert.equal(store.remove(ref), model.get(id))
            model.delete(id)
          }
        }
        const all = [...model.values()]
        assert.equal(store.size, all.length)
        assert.deepEqual(new Set(store.values()), new Set(all))
        assert.deepEqual(
          new Set(store.values('x')),
          new Set(all.filter(each => each.metadata.namespace === 'x')),
        )
        for (const key of ['1', '2', '3']) {
          const many = all.filter(each => each.keys.includes(key))
          assert.deepEqual(new Set(store.byIndex('many', key)), new Set(many))
          assert.equal(store.countByIndex('many', key), many.length)
          assert.deepEqual(
            new Set(store.byIndex('one', key)),
            new Set(all.filter(each => each.keys[0] === key)),
          )
        }
        assert.deepEqual(new Set(store.keysOfIndex('many')), new Set(all.flatMap(each => each.keys)))
      }),
      { numRuns: 500 },
    )
  })

  it('rejects unknown indexes', () => {
    const store = new IndexedStore<Item, 'one'>({ one: object => object.keys[0] })
    assert.throws(() => store.byIndex('two' as 'one', 'x'), /unknown index two/)
  })
})

describe('compareResourceVersions', () => {
  it('compares as numbers of any size', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 80n }), fc.bigInt({ min: 0n, max: 2n ** 80n }), (a, b) => {
        const order = compareResourceVersions(String(a), String(b))
        assert.equal(Math.sign(order), a < b ? -1 : a > b ? 1 : 0)
      }),
    )
  })
})
