// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createClientOn, defineResource, isConflict, type KubeObject } from '@grove/kube'
import { createCluster } from '../cluster.ts'
import { inProcessTransport } from '../front/in-process.ts'

const configMaps = defineResource<KubeObject & { data?: Record<string, string> }>({
  group: '',
  version: 'v1',
  resource: 'configmaps',
  kind: 'ConfigMap',
  namespaced: true,
})
const ref = { name: 'shared', namespace: 'default' }

test('concurrent patches all take effect, unless one names an old resourceVersion', async () => {
  const cluster = createCluster()
  // Webhooks are slow, so other clients write in the meantime.
  cluster.admission.add({
    name: 'slow',
    validate: () => new Promise(resolve => setImmediate(resolve)),
  })
  const client = createClientOn(inProcessTransport(cluster.handle))
  const made = await client.create(configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: ref })
  const patches = ['a', 'b', 'c', 'd'].map(key => ({ merge: { data: { [key]: key } } }))
  await Promise.all(patches.map(patch => client.patch(configMaps, ref, patch)))
  const found = await client.get(configMaps, ref)
  assert.deepEqual(found.data, { a: 'a', b: 'b', c: 'c', d: 'd' })
  const { resourceVersion } = made.metadata
  await assert.rejects(
    client.patch(configMaps, ref, { merge: { metadata: { resourceVersion }, data: { e: 'e' } } }),
    isConflict,
  )
  cluster.stop()
})
