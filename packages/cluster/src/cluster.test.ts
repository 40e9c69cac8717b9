// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createClientOn, defineResource, FakeClock } from '@grove/kube'
import { type Cluster, createCluster } from './cluster.ts'
import { adminUser, inProcessTransport } from './front/in-process.ts'
import type { ApiResponse } from './server/request.ts'
import { apiError } from './server/status.ts'
import { MemoryStore } from './store/index.ts'

const maps = '/api/v1/namespaces/default/configmaps'

function call(
  cluster: Cluster,
  method: string,
  path: string,
  body?: object,
  query = '',
): Promise<ApiResponse> {
  return cluster.handle({
    method,
    path,
    query: new URLSearchParams(query),
    headers: {},
    body: body && JSON.stringify(body),
    user: adminUser,
  })
}

async function next(stream: AsyncIterator<string>): Promise<unknown[]> {
  const { value } = await stream.next()
  return String(value ?? '')
    .split('\n')
    .filter(line => line !== '')
    .map(line => JSON.parse(line) as unknown)
}

/** Reads the first events of a watch and ends the watch. */
async function first(stream: AsyncIterable<string> | undefined): Promise<unknown[]> {
  const events = stream![Symbol.asyncIterator]()
  const found = await next(events)
  await events.return?.()
  return found
}

describe('the cluster', () => {
  it('repeats a run from its seed and clock', async () => {
    const run = async () => {
      const cluster = createCluster({ clock: new FakeClock(0), seed: 7 })
      const made = await call(cluster, 'POST', maps, { metadata: { generateName: 'x-' } })
      const service = await call(cluster, 'POST', '/api/v1/namespaces/default/services', {
        metadata: { name: 's' },
        spec: { ports: [{ port: 1 }] },
      })
      return [made.body, service.body]
    }
    assert.deepEqual(await run(), await run())
  })

  it('sends bookmarks to an idle watch that allows them', async () => {
    const clock = new FakeClock()
    const cluster = createCluster({ clock })
    const { stream } = await call(
      cluster,
      'GET',
      maps,
      undefined,
      `watch=true&resourceVersion=${cluster.store.revision}&allowWatchBookmarks=true`,
    )
    const events = stream![Symbol.asyncIterator]()
    const pending = next(events)
    await call(cluster, 'POST', '/api/v1/namespaces', { metadata: { name: 'elsewhere' } })
    await clock.advance(60_000)
    assert.deepEqual(await pending, [
      {
        type: 'BOOKMARK',
        object: {
          kind: 'ConfigMap',
          apiVersion: 'v1',
          metadata: { resourceVersion: String(cluster.store.revision) },
        },
      },
    ])
    await events.return?.()
    assert.equal(clock.pendingTimers, 0)
  })

  it('ends a watch when its timeout expires', async () => {
    const clock = new FakeClock()
    const cluster = createCluster({ clock })
    const { stream } = await call(cluster, 'GET', maps, undefined, 'watch=true&timeoutSeconds=5')
    const done = stream![Symbol.asyncIterator]().next()
    await clock.advance(5_000)
    assert.equal((await done).done, true)
  })

  it('sends 410 in the stream of a watch that starts from a compacted revision', async () => {
    const cluster = createCluster()
    const start = cluster.store.revision
    await call(cluster, 'POST', maps, { metadata: { name: 'a' } })
    cluster.store.compact(cluster.store.revision)
    const { status, stream } = await call(
      cluster,
      'GET',
      maps,
      undefined,
      `watch=true&resourceVersion=${start}`,
    )
    assert.equal(status, 200)
    const [event] = (await first(stream)) as {
      type: string
      object: { code: number; reason: string }
    }[]
    assert.equal(event?.type, 'ERROR')
    assert.equal(event?.object.code, 410)
    assert.equal(event?.object.reason, 'Expired')
  })

  it('ends a watch that falls behind the window, without affecting other watches', async () => {
    const cluster = createCluster({ store: new MemoryStore({ window: 10 }) })
    const { stream } = await call(
      cluster,
      'GET',
      maps,
      undefined,
      `watch=true&resourceVersion=${cluster.store.revision}`,
    )
    for (let index = 0; index < 40; index++)
      await call(cluster, 'POST', maps, { metadata: { name: `m${index}` } })
    const [event] = (await first(stream)) as {
      type: string
      object: { code: number }
    }[]
    assert.equal(event?.type, 'ERROR')
    assert.equal(event?.object.code, 410)
  })

  it('returns 410 for a page whose revision was compacted', async () => {
    const cluster = createCluster()
    for (const name of ['a', 'b']) await call(cluster, 'POST', maps, { metadata: { name } })
    const page = JSON.parse((await call(cluster, 'GET', maps, undefined, 'limit=1')).body!) as {
      metadata: { continue: string }
    }
    await call(cluster, 'POST', maps, { metadata: { name: 'c' } })
    cluster.store.compact(cluster.store.revision)
    const { status } = await call(
      cluster,
      'GET',
      maps,
      undefined,
      `limit=1&continue=${page.metadata.continue}`,
    )
    assert.equal(status, 410)
  })

  it('serves the client of @grove/kube without sockets', async () => {
    const cluster = createCluster()
    const client = createClientOn(inProcessTransport(cluster.handle))
    const configMaps = defineResource({
      group: '',
      version: 'v1',
      kind: 'ConfigMap',
      resource: 'configmaps',
      namespaced: true,
    })
    const made = await client.create(configMaps, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'a', namespace: 'default' },
    })
    assert.equal(made.metadata.name, 'a')
    assert.equal(
      (await client.get(configMaps, { name: 'a', namespace: 'default' })).metadata.uid,
      made.metadata.uid,
    )
  })

  it('calls the authorizer for every request', async () => {
    const asked: string[] = []
    const cluster = createCluster({
      authorize: ({ verb, resource, subresource, namespace, name }) => {
        asked.push([verb, namespace, resource, subresource, name].join(' '))
        return verb === 'delete'
          ? 'User "x" cannot delete resource "configmaps" in API group "" in the namespace "default"'
          : undefined
      },
    })
    await call(cluster, 'GET', '/api/v1/namespaces/default/pods/p/log')
    const rejected = await call(cluster, 'DELETE', `${maps}/a`)
    assert.deepEqual(asked, ['get default pods log p', 'delete default configmaps  a'])
    assert.equal(rejected.status, 403)
    assert.equal(
      (JSON.parse(rejected.body!) as { message: string }).message,
      'configmaps "a" is forbidden: User "x" cannot delete resource "configmaps" in API group "" in the namespace "default"',
    )
  })

  it('lets admission plugins change and reject objects', async () => {
    const cluster = createCluster({
      admission: [
        {
          name: 'stamp',
          async mutate({ object, operation }) {
            if (operation === 'CREATE' && object)
              object.metadata.labels = { ...object.metadata.labels, stamped: 'yes' }
          },
          validate({ resource, name }) {
            if (name === 'bad') throw apiError.forbidden(resource, name, 'no')
          },
        },
      ],
    })
    const made = await call(cluster, 'POST', maps, { metadata: { name: 'good' } })
    assert.deepEqual((JSON.parse(made.body!) as { metadata: { labels: object } }).metadata.labels, {
      stamped: 'yes',
    })
    assert.equal((await call(cluster, 'POST', maps, { metadata: { name: 'bad' } })).status, 403)
  })

  it('removes events when their TTL expires', async () => {
    const clock = new FakeClock()
    const cluster = createCluster({ clock, eventTtlMs: 3_600_000 })
    await call(cluster, 'POST', '/api/v1/namespaces/default/events', {
      metadata: { name: 'e' },
      involvedObject: { kind: 'Pod', name: 'p' },
    })
    await clock.advance(3_500_000)
    assert.equal(cluster.store.count('events'), 1)
    await clock.advance(200_000)
    assert.equal(cluster.store.count('events'), 0)
    assert.equal(clock.pendingTimers, 0)
  })

  it('rejects a body that is too large', async () => {
    const cluster = createCluster()
    const { status } = await call(cluster, 'POST', maps, {
      metadata: { name: 'a' },
      data: { x: 'x'.repeat(3 * 1024 * 1024) },
    })
    assert.equal(status, 413)
  })
})
