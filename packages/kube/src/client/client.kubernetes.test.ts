// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Kubernetes, startKubernetes } from '@grove/test-kubernetes'
import { loadKubeconfig } from '../auth/index.ts'
import { type ConfigMap, configMaps } from '../testing/config-maps.ts'
import type { Client } from './client.ts'
import { createClient } from './create-client.ts'
import { discover } from './discovery.ts'
import { isKubeError, type KubeErrorCode } from './error.ts'
import type { KubeObject } from './object.ts'
import { defineResource } from './resource.ts'
import { bindPod, evictPod, getScale, requestToken, setScale } from './subresources.ts'
import type { WatchEvent } from './watch.ts'

interface Pod extends KubeObject {
  readonly spec?: { readonly nodeName?: string; readonly containers: readonly object[] }
  readonly status?: { readonly phase?: string }
}
interface Deployment extends KubeObject {
  readonly spec?: { readonly replicas?: number; readonly selector: object; readonly template: object }
  readonly status?: { readonly replicas?: number }
}

const core = { group: '', version: 'v1', namespaced: true }
const pods = defineResource<Pod>({ ...core, resource: 'pods', kind: 'Pod' })
const deployments = defineResource<Deployment>({
  group: 'apps',
  version: 'v1',
  resource: 'deployments',
  kind: 'Deployment',
  namespaced: true,
})

for (const http2 of [false, true])
  describe(`the client on a real API server (HTTP/${http2 ? 2 : '1.1'})`, () => {
    let cluster: Kubernetes
    let client: Client
    let namespace: string
    const warnings: string[] = []

    before(async () => {
      cluster = await startKubernetes({ nodes: 1, controllers: false, scheduler: false, kwok: false })
      const config = loadKubeconfig({ path: cluster.kubeconfig })
      client = createClient(config, {
        http2,
        userAgent: 'client-test/1',
        onWarning: text => void warnings.push(text),
      })
      namespace = await cluster.newNamespace()
    })
    after(async () => {
      await client?.close()
      await cluster?.stop()
    })

    const fails = (code: KubeErrorCode, promise: Promise<unknown>) =>
      assert.rejects(promise, error => {
        assert.ok(isKubeError(error, code), `${String(error)} is not ${code}`)
        return true
      })
    const containers = [{ name: 'c', image: 'image' }]
    const configMap = (name: string, data?: Record<string, string>): ConfigMap => ({
      metadata: { name, namespace, labels: { test: 'yes' } },
      data,
    })

    it('creates, gets, updates, patches with every patch type, applies and deletes', async () => {
      const created = await client.create(configMaps, configMap('one', { a: '1' }), {
        fieldManager: 'creator',
      })
      const ref = created.metadata
      assert.deepEqual(await client.get(configMaps, ref), created)
      await fails('AlreadyExists', client.create(configMaps, configMap('one')))
      const updated = await client.update(configMaps, { ...created, data: { a: '2' } })
      await fails('Conflict', client.update(configMaps, { ...created, data: { a: '3' } }))
      assert.notEqual(updated.metadata.resourceVersion, created.metadata.resourceVersion)
      assert.deepEqual((await client.patch(configMaps, ref, { merge: { data: { b: '3' } } })).data, {
        a: '2',
        b: '3',
      })
      const json = [{ op: 'replace', path: '/data/a', value: '4' }] as const
      assert.equal((await client.patch(configMaps, ref, { json })).data?.a, '4')
      assert.deepEqual((await client.patch(configMaps, ref, { strategic: { data: { b: null } } })).data, {
        a: '4',
      })
      const wanted = { ...configMap('one', { a: 'applied' }), apiVersion: 'v1', kind: 'ConfigMap' }
      await fails('Conflict', client.apply(configMaps, wanted, { fieldManager: 'other' }))
      const applied = await client.apply(configMaps, wanted, { fieldManager: 'other', force: true })
      assert.equal(applied.data?.a, 'applied')
      await fails('Conflict', client.delete(configMaps, ref, { preconditions: { uid: 'another' } }))
      const { resourceVersion } = created.metadata
      await fails('Conflict', client.delete(configMaps, ref, { preconditions: { resourceVersion } }))
      const deleted = await client.delete(configMaps, ref, { preconditions: { uid: ref.uid } })
      assert.deepEqual([deleted.gone, deleted.uid], [true, ref.uid])
      await fails('NotFound', client.get(configMaps, ref))
      assert.equal(await client.find(configMaps, ref), undefined)
    })

    it('reports whether a deleted object is gone or terminating', async () => {
      const held = await client.create(configMaps, {
        metadata: { generateName: 'held-', namespace, finalizers: ['example.com/hold'] },
      })
      const waiting = await client.delete(configMaps, held.metadata, { propagationPolicy: 'Background' })
      assert.equal(waiting.gone, false)
      assert.ok(waiting.object?.metadata.deletionTimestamp)
      await client.patch(configMaps, held.metadata, { merge: { metadata: { finalizers: null } } })
      assert.equal(await client.find(configMaps, held.metadata), undefined)
      const bound = await client.create(pods, {
        metadata: { name: 'graceful', namespace },
        spec: { containers, nodeName: 'somewhere' },
      })
      assert.equal((await client.delete(pods, bound.metadata)).gone, false)
      assert.equal((await client.delete(pods, bound.metadata, { gracePeriodSeconds: 0 })).gone, true)
    })

    it('supports dry runs and strict field validation', async () => {
      const { metadata } = await client.create(configMaps, configMap('dry'), { dryRun: true })
      assert.ok(metadata.uid)
      assert.equal(await client.find(configMaps, metadata), undefined)
      const strange = { ...configMap('strange'), unknownField: 1 }
      await fails('BadRequest', client.create(configMaps, strange, { fieldValidation: 'Strict' }))
      warnings.length = 0
      await client.create(configMaps, strange, { fieldValidation: 'Warn', dryRun: true })
      assert.deepEqual(warnings, ['unknown field "unknownField"'])
      await fails('Invalid', client.create(configMaps, configMap('NOT_VALID')))
    })

    it('lists in pages and by selector, and deletes by selector', async () => {
      const names = Array.from({ length: 12 }, (_, i) => `paged-${i}`)
      await Promise.all(
        names.map((name, i) =>
          client.create(configMaps, { metadata: { name, namespace, labels: { half: String(i % 2) } } }),
        ),
      )
      let pages = 0
      for await (const page of client.pages(configMaps, { namespace, labelSelector: 'half', limit: 5 })) {
        pages++
        assert.ok(page.items.every(({ kind, apiVersion }) => kind === 'ConfigMap' && apiVersion === 'v1'))
      }
      assert.equal(pages, 3)
      const one = await client.list(configMaps, { namespace, fieldSelector: 'metadata.name=paged-3' })
      assert.equal(one.items.length, 1)
      const half = await client.deleteCollection(configMaps, { namespace, labelSelector: 'half=0' })
      assert.equal(half.items.length, 6)
      assert.equal((await client.list(configMaps, { namespace, labelSelector: 'half' })).items.length, 6)
      const expired = client.page(configMaps, { namespace, limit: 1, continue: 'bm90IGEgdG9rZW4' })
      await assert.rejects(expired, error => isKubeError(error, 'BadRequest', 'Gone'))
    })

    it('watches with a streaming list and resumes from a resourceVersion', async () => {
      const events: WatchEvent<ConfigMap>[] = []
      const stop = new AbortController()
      const labelSelector = 'watched=yes'
      const make = (name: string) =>
        client.create(configMaps, { metadata: { name, namespace, labels: { watched: 'yes' } } })
      await make('before')
      const watching = client.watch(
        configMaps,
        { namespace, labelSelector, sendInitialEvents: true, signal: stop.signal },
        event => {
          events.push(event)
          if (event.type === 'BOOKMARK') void make('after')
          else if (event.object.metadata.name === 'after') stop.abort()
        },
      )
      await fails('Aborted', watching)
      assert.deepEqual(
        events.map(event =>
          event.type === 'BOOKMARK' ? event.initialEventsEnd : event.object.metadata.name,
        ),
        ['before', true, 'after'],
      )
      const resourceVersion = events[1]!.type === 'BOOKMARK' ? events[1]!.resourceVersion : ''
      const later: string[] = []
      await client.watch(
        configMaps,
        { namespace, labelSelector, resourceVersion, timeoutSeconds: 1 },
        event => event.type !== 'BOOKMARK' && later.push(`${event.type} ${event.object.metadata.name}`),
      )
      assert.deepEqual(later, ['ADDED after'])
    })

    it('uses status, scale, binding, eviction and token', async () => {
      const pod = await client.create(pods, { metadata: { name: 'sub', namespace }, spec: { containers } })
      const { status } = await client.patch(
        pods,
        pod.metadata,
        { merge: { status: { phase: 'Running' } } },
        {
          subresource: 'status',
        },
      )
      assert.equal(status?.phase, 'Running')
      const { items } = await client.list(
        defineResource({ ...core, resource: 'nodes', kind: 'Node', namespaced: false }),
      )
      const node = items[0]!.metadata.name
      await bindPod(client, pod.metadata, node, { uid: pod.metadata.uid })
      assert.equal((await client.get(pods, pod.metadata)).spec?.nodeName, node)
      await fails('Conflict', bindPod(client, pod.metadata, node))
      await evictPod(client, pod.metadata, { gracePeriodSeconds: 0 })
      const deployment = await client.create(deployments, {
        metadata: { name: 'scaled', namespace },
        spec: {
          replicas: 1,
          selector: { matchLabels: { a: 'b' } },
          template: { metadata: { labels: { a: 'b' } }, spec: { containers } },
        },
      })
      assert.equal((await setScale(client, deployments, deployment.metadata, 3)).spec?.replicas, 3)
      assert.equal((await getScale(client, deployments, deployment.metadata)).spec?.replicas, 3)
      const { token } = await requestToken(client, { namespace, name: 'default' }, { expirationSeconds: 600 })
      assert.match(token, /^ey/)
    })

    it('discovers the resources of the server', async () => {
      const found = await discover(client)
      const deployment = found.find(({ group, resource }) => group === 'apps' && resource === 'deployments')
      assert.deepEqual(
        [
          deployment?.kind,
          deployment?.namespaced,
          deployment?.preferred,
          deployment?.subresources.includes('scale'),
        ],
        ['Deployment', true, true, true],
      )
      assert.ok(found.some(({ group, resource }) => group === '' && resource === 'pods'))
      assert.equal(await client.raw({ verb: 'get', method: 'GET', path: '/readyz' }), 'ok')
    })
  })
