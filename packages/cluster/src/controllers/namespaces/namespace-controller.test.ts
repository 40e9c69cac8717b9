// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { configMaps, namespaces, pods, serviceAccounts } from '../kinds.ts'
import { completed, createPod, getPod, podOf, startTestCluster } from '../testing/test-cluster.ts'

describe('a namespace that is deleted', () => {
  it('is emptied, pods first, and then removed', async () => {
    await using cluster = await startTestCluster({ nodes: 1, kubelet: { settings: { stopMs: 5_000 } } })
    const { clock, client } = cluster
    await completed(clock, client.create(namespaces, { metadata: { name: 'team' } }))
    await createPod(cluster, podOf('a', { namespace: 'team' }))
    await completed(clock, client.create(configMaps, { metadata: { namespace: 'team', name: 'settings' } }))
    await clock.advance(1_000)
    await completed(clock, client.delete(namespaces, { name: 'team' }))
    await clock.advance(1_000)
    assert.ok((await getPod(cluster, 'a', 'team'))?.metadata.deletionTimestamp)
    assert.ok(await completed(clock, client.find(configMaps, { namespace: 'team', name: 'settings' })))
    const waiting = await completed(clock, client.get(namespaces, { name: 'team' }))
    const condition = waiting.status?.conditions?.find(({ type }) => type === 'NamespaceContentRemaining')
    assert.equal(condition?.status, 'True')
    assert.equal(condition?.message, 'Some resources are remaining: pods. has 1 resource instances')
    await clock.advance(10_000)
    assert.equal(await completed(clock, client.find(namespaces, { name: 'team' })), undefined)
    assert.deepEqual((await completed(clock, client.list(configMaps, { namespace: 'team' }))).items, [])
  })

  it('waits for objects with finalizers, and reports them', async () => {
    await using cluster = await startTestCluster()
    const { clock, client } = cluster
    await completed(clock, client.create(namespaces, { metadata: { name: 'team' } }))
    const metadata = { namespace: 'team', name: 'held', finalizers: ['example.com/hold'] }
    await completed(clock, client.create(configMaps, { metadata }))
    await completed(clock, client.delete(namespaces, { name: 'team' }))
    await clock.advance(60_000)
    const waiting = await completed(clock, client.get(namespaces, { name: 'team' }))
    const condition = waiting.status?.conditions?.find(({ type }) => type === 'NamespaceFinalizersRemaining')
    assert.equal(
      condition?.message,
      'Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances',
    )
    await completed(clock, client.patch(configMaps, metadata, { merge: { metadata: { finalizers: null } } }))
    await clock.advance(100)
    assert.equal(await completed(clock, client.find(namespaces, { name: 'team' })), undefined)
  })
})

describe('a namespace', () => {
  it('gets its default service account and the CA certificate, and gets them again after a deletion', async () => {
    await using cluster = await startTestCluster({ serviceAccounts: { caCertificate: 'PEM' } })
    const { clock, client } = cluster
    await completed(clock, client.create(namespaces, { metadata: { name: 'team' } }))
    await clock.advance(100)
    for (const again of [false, true]) {
      if (again) {
        await completed(clock, client.delete(serviceAccounts, { namespace: 'team', name: 'default' }))
        await completed(clock, client.delete(configMaps, { namespace: 'team', name: 'kube-root-ca.crt' }))
        await clock.advance(100)
      }
      assert.ok(await completed(clock, client.find(serviceAccounts, { namespace: 'team', name: 'default' })))
      const map = await completed(
        clock,
        client.get(configMaps, { namespace: 'team', name: 'kube-root-ca.crt' }),
      )
      assert.deepEqual(map.data, { 'ca.crt': 'PEM' })
    }
    assert.deepEqual((await completed(clock, client.list(pods))).items, [])
  })
})
