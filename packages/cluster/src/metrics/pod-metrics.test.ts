// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createClientOn, defineResource, discover, type KubeObject } from '@grove/kube'
import { createCluster } from '../cluster.ts'
import { pods } from '../controllers/kinds.ts'
import { inProcessTransport } from '../front/in-process.ts'

interface PodMetrics extends KubeObject {
  readonly containers: readonly { readonly name: string; readonly usage: object }[]
}

const podMetrics = defineResource<PodMetrics>({
  group: 'metrics.k8s.io',
  version: 'v1beta1',
  resource: 'pods',
  kind: 'PodMetrics',
  namespaced: true,
})

const container = (name: string, requests?: Record<string, string>) => ({
  name,
  image: 'registry.example/app:1',
  ...(requests && { resources: { requests } }),
})

test('running pods use half of their requests, or the value of an annotation', async () => {
  const cluster = createCluster({ podMetrics: true })
  const client = createClientOn(inProcessTransport(cluster.handle), { userAgent: 'test' })
  const namespace = 'default'
  const create = async (name: string, annotations: Record<string, string>, phase: string) => {
    await client.create(pods, {
      metadata: { name, namespace, annotations },
      spec: { containers: [container('main', { cpu: '2', memory: '1Gi' }), container('plain')] },
    })
    await client.patch(pods, { name, namespace }, { merge: { status: { phase } } }, { subresource: 'status' })
  }
  await create('usual', {}, 'Running')
  await create('busy', { 'simulate.grove.io/usage.cpu': '1900m' }, 'Running')
  await create('waiting', {}, 'Pending')
  const { items } = await client.list(podMetrics, { namespace })
  const usage = Object.fromEntries(
    items.map(({ metadata, containers }) => [metadata.name, containers.map(each => each.usage)]),
  )
  const idle = { cpu: '0m', memory: '0Ki' }
  assert.deepEqual(usage, {
    usual: [{ cpu: '1000m', memory: '524288Ki' }, idle],
    busy: [{ cpu: '1900m', memory: '524288Ki' }, idle],
    waiting: [],
  })
  const served = await discover(client)
  const found = served.find(({ kind }) => kind === 'PodMetrics')
  assert.deepEqual([found?.group, found?.resource], ['metrics.k8s.io', 'pods'])
  assert.equal(
    served.find(({ resource }) => resource === 'pods')?.group,
    '',
    'the name pods still refers to the core kind',
  )
  cluster.stop()
})
