// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { after, beforeEach, describe, it } from 'node:test'
import { createClientOn, defineResource, isKubeError, type Stored } from '../client/index.ts'
import type { TransportRequest } from '../client/transport.ts'
import { FakeClock } from '../clock/index.ts'
import { type Fault, SimulatedServer } from '../testing/simulated-server.ts'
import { type CachedClient, createCachedClient } from './cached-client.ts'
import type { Change } from './change.ts'
import { WatchCache } from './watch-cache.ts'

const descriptor = { group: '', version: 'v1', resource: 'pods', kind: 'Pod', namespaced: true }
const pods = defineResource(descriptor)
const path = '/api/v1/namespaces/ns/pods'
const ref = { namespace: 'ns', name: 'a' }
const pod = (name: string, color = 'red') => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'ns', labels: { color } },
})

describe('a cached client before any watch event arrives', () => {
  const clock = new FakeClock()
  const stop = new AbortController()
  const stopped = Promise.withResolvers<void>()
  let held: boolean
  let fault: (request: TransportRequest) => Fault
  let server: SimulatedServer
  let cache: WatchCache
  let red: WatchCache
  let client: CachedClient
  let changes: Change<Stored>[]
  const running: Promise<void>[] = []

  beforeEach(async () => {
    held = false
    fault = () => undefined
    server = new SimulatedServer({
      fault: request => fault(request),
      delay: what => (what === 'event' && held ? stopped.promise : Promise.resolve()),
    })
    server.write('POST', path, pod('a'))
    const plain = createClientOn(server, { clock })
    cache = new WatchCache(plain, pods, { clock })
    red = new WatchCache(plain, pods, { clock, labelSelector: 'color=red' })
    client = createCachedClient(plain, [cache])
    client.attach(red)
    running.push(cache.run(stop.signal), red.run(stop.signal))
    await Promise.all([cache.waitForSync(), red.waitForSync()])
    held = true
    changes = []
    cache.onChange(change => void changes.push(change as Change<Stored>))
    changes.length = 0
  })
  after(async () => {
    stop.abort()
    stopped.resolve()
    await Promise.all(running)
  })

  it('shows a created object once', async () => {
    const created = await client.create(pods, pod('b'))
    assert.equal(cache.get(created.metadata), created)
    assert.deepEqual(
      changes.map(({ type, source }) => `${type} by ${source}`),
      ['add by write'],
    )
  })

  it('shows updates, patches and applies', async () => {
    const updated = await client.update(pods, {
      ...pod('a'),
      metadata: { ...pod('a').metadata, finalizers: ['x'] },
    })
    assert.equal(cache.get(ref), updated)
    const patched = await client.patch(pods, ref, { merge: { metadata: { annotations: { x: 'y' } } } })
    assert.equal(cache.get(ref), patched)
    const status = await client.patch(pods, ref, { merge: { status: {} } }, { subresource: 'status' })
    assert.equal(cache.get(ref), status)
    const applied = await client.apply(pods, pod('a'), { fieldManager: 'me' })
    assert.equal(cache.get(ref), applied)
    assert.ok(changes.every(({ type }) => type === 'update'))
  })

  it('removes an object from a selection and adds it again', async () => {
    await client.patch(pods, ref, { merge: { metadata: { labels: { color: 'blue' } } } })
    assert.equal(red.get(ref), undefined)
    assert.equal(cache.get(ref)?.metadata.labels?.color, 'blue')
    await client.patch(pods, ref, { merge: { metadata: { labels: { color: 'red' } } } })
    assert.ok(red.get(ref))
  })

  it('hides a deleted object, but not a new one of the same name', async () => {
    const { uid } = cache.get(ref)!.metadata
    await client.delete(pods, ref)
    assert.equal(cache.get(ref), undefined)
    const again = await client.create(pods, pod('a'))
    assert.notEqual(again.metadata.uid, uid)
    assert.equal(cache.get(ref), again)
    assert.deepEqual(
      changes.map(({ type }) => type),
      ['delete', 'add'],
    )
  })

  it('hides an object that another client has already deleted', async () => {
    server.write('DELETE', `${path}/a`)
    assert.ok(cache.get(ref))
    await assert.rejects(client.delete(pods, ref), error => isKubeError(error, 'NotFound'))
    assert.equal(cache.get(ref), undefined)
  })

  it('shows an object that is terminating, and hides it when its last finalizer is removed', async () => {
    const current = cache.get(ref)!
    const response = (metadata: object) => ({
      status: 200,
      headers: {},
      body: JSON.stringify({ ...pod('a'), metadata: { ...current.metadata, ...metadata } }),
    })
    const terminating = { deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 0 }
    fault = () => response({ ...terminating, resourceVersion: '900', finalizers: ['x'] })
    assert.equal((await client.delete(pods, ref)).gone, false)
    assert.ok(cache.get(ref)?.metadata.deletionTimestamp)
    fault = () => response({ ...terminating, resourceVersion: '900' })
    await client.patch(pods, ref, { merge: { metadata: { finalizers: null } } })
    assert.equal(cache.get(ref), undefined)
  })

  it('shows a terminating namespace until its content is deleted', async () => {
    const kind = { resource: 'namespaces', kind: 'Namespace', namespaced: false }
    const namespaces = defineResource({ group: '', version: 'v1', ...kind })
    const all = new WatchCache(client, namespaces, { clock })
    client.attach(all)
    const response = (resourceVersion: string, finalizers: string[]) => ({
      status: 200,
      headers: {},
      body: JSON.stringify({
        kind: 'Namespace',
        metadata: { name: 'n', uid: 'n', resourceVersion, deletionTimestamp: '2026-01-01T00:00:00Z' },
        spec: { finalizers },
      }),
    })
    fault = () => response('900', ['kubernetes'])
    assert.equal((await client.delete(namespaces, { name: 'n' })).gone, false)
    assert.ok(all.get({ name: 'n' })?.metadata.deletionTimestamp)
    fault = () => response('901', [])
    await client.update(namespaces, { metadata: { name: 'n' } }, { subresource: 'finalize' })
    assert.equal(all.get({ name: 'n' }), undefined)
  })

  it('shows every object of a deletecollection as terminating', async () => {
    await client.create(pods, pod('b'))
    await client.deleteCollection(pods, { namespace: 'ns' })
    assert.equal(cache.size, 2)
    assert.ok(cache.list().every(({ metadata }) => metadata.deletionTimestamp))
    assert.ok(red.list().every(({ metadata }) => metadata.deletionTimestamp))
  })

  it('does not change the cache for dry runs and for objects of another kind', async () => {
    await client.create(pods, pod('c'), { dryRun: true })
    await client.delete(pods, ref, { dryRun: true })
    await client.deleteCollection(pods, { namespace: 'ns', dryRun: true })
    const later = defineResource({ ...descriptor, version: 'v2' })
    await client.create(later, { ...pod('d'), apiVersion: 'v2' })
    assert.deepEqual(
      cache.list().map(({ metadata }) => metadata.name),
      ['a'],
    )
    assert.equal(changes.length, 0)
  })
})
