// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { endpointSlices, pods, services } from '../kinds.ts'
import { completed, createPod, podOf, startTestCluster, type TestCluster } from '../testing/test-cluster.ts'

async function endpointsOf(cluster: TestCluster, service: string) {
  const labelSelector = `kubernetes.io/service-name=${service}`
  const { items } = await completed(
    cluster.clock,
    cluster.client.list(endpointSlices, { namespace: 'default', labelSelector }),
  )
  return items.flatMap(({ endpoints = [], ports }) =>
    endpoints.map(({ addresses, conditions, hostname }) => ({
      address: addresses?.[0],
      ready: conditions?.ready,
      hostname,
      port: ports?.[0]?.port,
    })),
  )
}

describe('the endpoints of a service', () => {
  it('are its ready pods, or all pods if it publishes not-ready addresses', async () => {
    await using cluster = await startTestCluster({ nodes: 1 })
    const spec = { selector: { app: 'web' }, ports: [{ port: 80, targetPort: 'http' }] }
    const create = (name: string, more: object) =>
      completed(
        cluster.clock,
        cluster.client.create(services, {
          metadata: { namespace: 'default', name },
          spec: { ...spec, ...more },
        }),
      )
    await create('plain', {})
    await create('early', { clusterIP: 'None', publishNotReadyAddresses: true })
    const containers = [{ name: 'app', image: 'app', ports: [{ name: 'http', containerPort: 8080 }] }]
    const labels = { app: 'web' }
    await createPod(cluster, podOf('a', { labels, spec: { containers, hostname: 'a', subdomain: 'early' } }))
    await createPod(
      cluster,
      podOf('b', { labels, spec: { containers }, annotations: { 'simulate.grove.io/ready': 'false' } }),
    )
    await createPod(cluster, podOf('c'))
    await cluster.clock.advance(1_000)
    const [a, b] = ['198.18.0.1', '198.18.0.2']
    assert.deepEqual(await endpointsOf(cluster, 'plain'), [
      { address: a, ready: true, hostname: undefined, port: 8080 },
      { address: b, ready: false, hostname: undefined, port: 8080 },
    ])
    assert.deepEqual(await endpointsOf(cluster, 'early'), [
      { address: a, ready: true, hostname: 'a', port: 8080 },
      { address: b, ready: true, hostname: undefined, port: 8080 },
    ])
    await completed(cluster.clock, cluster.client.delete(pods, { namespace: 'default', name: 'a' }))
    await cluster.clock.advance(1_000)
    assert.deepEqual(
      (await endpointsOf(cluster, 'plain')).map(({ address }) => address),
      [b],
    )
    await completed(cluster.clock, cluster.client.delete(services, { namespace: 'default', name: 'plain' }))
    await cluster.clock.advance(1_000)
    assert.deepEqual(await endpointsOf(cluster, 'plain'), [])
  })
})
