// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { DeleteOptions, OwnerReference, Stored } from '@grove/kube'
import fc from 'fast-check'
import { type ConfigMap, configMaps, namespaces } from '../kinds.ts'
import { completed, startTestCluster, type TestCluster } from '../testing/test-cluster.ts'

type Owner = Stored<ConfigMap> | OwnerReference

const ownerOf = (
  { metadata: { name, uid } }: Stored<ConfigMap>,
  blockOwnerDeletion = true,
): OwnerReference => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  name,
  uid,
  blockOwnerDeletion,
})

function start(): Promise<TestCluster> {
  return startTestCluster({ run: ['garbage-collector'] })
}

async function make(cluster: TestCluster, name: string, owners: readonly Owner[] = [], more: object = {}) {
  const ownerReferences = owners.map(owner => ('uid' in owner ? owner : ownerOf(owner)))
  const object = { metadata: { namespace: 'default', name, ownerReferences, ...more } }
  return completed(cluster.clock, cluster.client.create(configMaps, object))
}

async function remove(cluster: TestCluster, name: string, options: DeleteOptions = {}): Promise<void> {
  await completed(cluster.clock, cluster.client.delete(configMaps, { namespace: 'default', name }, options))
  await cluster.clock.advance(1_000)
}

async function namesIn(cluster: TestCluster, namespace = 'default'): Promise<string[]> {
  const { items } = await completed(cluster.clock, cluster.client.list(configMaps, { namespace }))
  return items
    .map(({ metadata }) => metadata.name)
    .filter(name => name !== 'kube-root-ca.crt')
    .sort()
}

async function find(cluster: TestCluster, name: string) {
  return completed(cluster.clock, cluster.client.find(configMaps, { namespace: 'default', name }))
}

describe('the dependents of a deleted owner', () => {
  it('are deleted after it, level by level', async () => {
    await using cluster = await start()
    const top = await make(cluster, 'top')
    const middle = await make(cluster, 'middle', [top])
    await make(cluster, 'bottom', [middle])
    await make(cluster, 'other')
    await remove(cluster, 'top', { propagationPolicy: 'Background' })
    assert.deepEqual(await namesIn(cluster), ['other'])
  })

  it('stay while another owner exists, and lose the reference to the deleted one', async () => {
    await using cluster = await start()
    const [a, b] = [await make(cluster, 'a'), await make(cluster, 'b')]
    await make(cluster, 'shared', [a, b])
    await remove(cluster, 'a', { propagationPolicy: 'Background' })
    assert.deepEqual(
      (await find(cluster, 'shared'))?.metadata.ownerReferences?.map(({ name }) => name),
      ['b'],
    )
    await remove(cluster, 'b', { propagationPolicy: 'Background' })
    assert.deepEqual(await namesIn(cluster), [])
  })

  it('are deleted first with foreground deletion, and block the owner only with blockOwnerDeletion', async () => {
    await using cluster = await start()
    const top = await make(cluster, 'top')
    await make(cluster, 'held', [top], { finalizers: ['example.com/hold'] })
    await remove(cluster, 'top', { propagationPolicy: 'Foreground' })
    assert.deepEqual((await find(cluster, 'top'))?.metadata.finalizers, ['foregroundDeletion'])
    assert.ok((await find(cluster, 'held'))?.metadata.deletionTimestamp)
    const merge = { metadata: { finalizers: null } }
    await completed(
      cluster.clock,
      cluster.client.patch(configMaps, { namespace: 'default', name: 'held' }, { merge }),
    )
    await cluster.clock.advance(1_000)
    assert.deepEqual(await namesIn(cluster), [])

    const free = await make(cluster, 'free')
    await make(cluster, 'loose', [ownerOf(free, false)], { finalizers: ['example.com/hold'] })
    await remove(cluster, 'free', { propagationPolicy: 'Foreground' })
    assert.deepEqual(await namesIn(cluster), ['loose'])
    assert.ok((await find(cluster, 'loose'))?.metadata.deletionTimestamp)
  })

  it('are orphaned if the deletion requests it', async () => {
    await using cluster = await start()
    const top = await make(cluster, 'top')
    await make(cluster, 'child', [top])
    await remove(cluster, 'top', { propagationPolicy: 'Orphan' })
    assert.deepEqual(await namesIn(cluster), ['child'])
    assert.equal((await find(cluster, 'child'))?.metadata.ownerReferences, undefined)
  })

  it('are deleted even if two owners in foreground deletion own each other', async () => {
    await using cluster = await start()
    const a = await make(cluster, 'a')
    const b = await make(cluster, 'b', [a])
    const merge = { metadata: { ownerReferences: [ownerOf(b)] } }
    await completed(cluster.clock, cluster.client.patch(configMaps, a.metadata, { merge }))
    await remove(cluster, 'a', { propagationPolicy: 'Foreground' })
    assert.deepEqual(await namesIn(cluster), [])
  })
})

describe('an owner reference', () => {
  it('to an object that never existed or has another UID counts as absent', async () => {
    await using cluster = await start()
    const real = await make(cluster, 'real')
    await make(cluster, 'ghost', [
      { ...ownerOf(real), name: 'missing', uid: 'f0000000-0000-4000-8000-000000000000' },
    ])
    await make(cluster, 'impostor', [{ ...ownerOf(real), uid: 'f0000000-0000-4000-8000-000000000001' }])
    await cluster.clock.advance(1_000)
    assert.deepEqual(await namesIn(cluster), ['real'])
  })

  it('to another namespace counts as absent, but a cluster-scoped owner does not', async () => {
    await using cluster = await start()
    const space = await completed(
      cluster.clock,
      cluster.client.create(namespaces, { metadata: { name: 'elsewhere' } }),
    )
    const far = await completed(
      cluster.clock,
      cluster.client.create(configMaps, { metadata: { namespace: 'elsewhere', name: 'far' } }),
    )
    await make(cluster, 'lost', [ownerOf(far)])
    await make(cluster, 'kept', [
      { apiVersion: 'v1', kind: 'Namespace', name: 'elsewhere', uid: space.metadata.uid },
    ])
    await cluster.clock.advance(1_000)
    assert.deepEqual(await namesIn(cluster), ['kept'])
  })

  it('to a kind that is not served protects the object, because the owner may exist', async () => {
    await using cluster = await start()
    await make(cluster, 'odd', [
      {
        apiVersion: 'example.com/v1',
        kind: 'Unheard',
        name: 'x',
        uid: 'f0000000-0000-4000-8000-000000000002',
      },
    ])
    await cluster.clock.advance(60_000)
    assert.deepEqual(await namesIn(cluster), ['odd'])
  })
})

describe('the garbage collector', () => {
  const policies = ['Background', 'Foreground', 'Orphan'] as const
  const graph = fc.record({
    /** For each object, the earlier objects that own it. */
    owners: fc.array(fc.uniqueArray(fc.nat(11), { maxLength: 3 }), { minLength: 2, maxLength: 12 }),
    deletions: fc.array(fc.tuple(fc.nat(11), fc.constantFrom(...policies)), { minLength: 1, maxLength: 4 }),
  })

  it('leaves exactly the objects that still have an owner or never had one', async () => {
    await fc.assert(
      fc.asyncProperty(graph, async ({ owners, deletions }) => {
        await using cluster = await start()
        const links = owners.map((mine, index) => new Set(mine.filter(owner => owner < index)))
        const made: Stored<ConfigMap>[] = []
        for (const [index, mine] of links.entries())
          made.push(
            await make(
              cluster,
              `o${index}`,
              [...mine].map(owner => made[owner]!),
            ),
          )
        const expected = new Map(links.map((mine, index) => [index, mine]))
        for (const [target, policy] of deletions) {
          if (!expected.has(target)) continue
          await remove(cluster, `o${target}`, { propagationPolicy: policy })
          forget(expected, target, policy)
        }
        assert.deepEqual(await namesIn(cluster), [...expected.keys()].map(index => `o${index}`).sort())
      }),
      { numRuns: 25 },
    )
  })

  /** The model: the simplest implementation of one deletion. */
  function forget(
    objects: Map<number, Set<number>>,
    target: number,
    policy: (typeof policies)[number],
  ): void {
    objects.delete(target)
    for (const [index, owners] of objects) {
      if (!owners.delete(target)) continue
      if (owners.size === 0 && policy !== 'Orphan') forget(objects, index, 'Background')
    }
  }
})
