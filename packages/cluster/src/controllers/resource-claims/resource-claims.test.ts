// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  deviceClasses,
  type Pod,
  pods,
  resourceClaims,
  resourceClaimTemplates,
  resourceSlices,
} from '../kinds.ts'
import {
  completed,
  createPod,
  getPod,
  podOf,
  startTestCluster,
  type TestCluster,
  type TestClusterOptions,
} from '../testing/test-cluster.ts'

const driver = 'gpu.example.com'

/** Two nodes with two devices each. */
async function start(options: Pick<TestClusterOptions, 'between'> = {}): Promise<TestCluster> {
  const cluster = await startTestCluster({ nodes: 2, ...options })
  const { clock, client } = cluster
  const selectors = [{ cel: { expression: `device.driver == "${driver}"` } }]
  await completed(clock, client.create(deviceClasses, { metadata: { name: 'gpu' }, spec: { selectors } }))
  for (const nodeName of ['node-0', 'node-1']) {
    const pool = { name: nodeName, generation: 1, resourceSliceCount: 1 }
    const spec = { driver, nodeName, pool, devices: [{ name: 'd0' }, { name: 'd1' }] }
    await completed(clock, client.create(resourceSlices, { metadata: { name: nodeName }, spec }))
  }
  return cluster
}

const claimSpec = (count: number) => ({
  devices: {
    requests: [{ name: 'gpus', exactly: { deviceClassName: 'gpu', allocationMode: 'ExactCount', count } }],
  },
})

function podWith(
  name: string,
  claim: { resourceClaimName?: string; resourceClaimTemplateName?: string },
): Pod {
  return podOf(name, { spec: { ...podOf(name).spec, resourceClaims: [{ name: 'gpu', ...claim }] } })
}

const claimsOf = async ({ clock, client }: TestCluster) =>
  (await completed(clock, client.list(resourceClaims))).items

describe('a pod that claims devices', () => {
  it('waits for its claim, gets devices of its node, and releases them', async () => {
    await using cluster = await start()
    const { clock, client } = cluster
    const template = { metadata: { namespace: 'default', name: 'pair' }, spec: { spec: claimSpec(2) } }
    await createPod(cluster, podWith('a', { resourceClaimTemplateName: 'pair' }))
    await clock.advance(1_000)
    assert.equal((await getPod(cluster, 'a'))?.spec?.nodeName, undefined)
    await completed(clock, client.create(resourceClaimTemplates, template))
    await clock.advance(1_000)
    const pod = await getPod(cluster, 'a')
    const [claim] = await claimsOf(cluster)
    assert.ok(pod?.spec?.nodeName)
    assert.deepEqual(pod?.status?.resourceClaimStatuses, [
      { name: 'gpu', resourceClaimName: claim?.metadata.name },
    ])
    assert.deepEqual(
      claim?.status?.allocation?.devices?.results?.map(({ pool, device }) => `${pool}/${device}`),
      [`${pod?.spec?.nodeName}/d0`, `${pod?.spec?.nodeName}/d1`],
    )
    assert.deepEqual(claim?.status?.reservedFor, [{ resource: 'pods', name: 'a', uid: pod?.metadata.uid }])
    for (const name of ['b', 'c'])
      await createPod(cluster, podWith(name, { resourceClaimTemplateName: 'pair' }))
    await clock.advance(5_000)
    const waiting = await getPod(cluster, 'c')
    assert.match(
      waiting?.status?.conditions?.[0]?.message ?? '',
      /^0\/2 nodes are available: 2 cannot allocate all claims\./,
    )
    await completed(clock, client.delete(pods, { namespace: 'default', name: 'a' }))
    await clock.advance(20_000)
    assert.equal((await getPod(cluster, 'c'))?.spec?.nodeName, pod?.spec?.nodeName)
    assert.equal((await claimsOf(cluster)).length, 2)
  })

  it('shares a claim with other pods on its node', async () => {
    await using cluster = await start()
    const { clock, client } = cluster
    const metadata = { namespace: 'default', name: 'shared' }
    for (const name of ['a', 'b', 'c'])
      await createPod(cluster, podWith(name, { resourceClaimName: 'shared' }))
    await clock.advance(1_000)
    assert.equal((await getPod(cluster, 'a'))?.spec?.nodeName, undefined)
    await completed(clock, client.create(resourceClaims, { metadata, spec: claimSpec(1) }))
    await clock.advance(20_000)
    const nodes = await Promise.all(
      ['a', 'b', 'c'].map(async name => (await getPod(cluster, name))?.spec?.nodeName),
    )
    assert.ok(nodes[0])
    assert.equal(new Set(nodes).size, 1)
    const [claim] = await claimsOf(cluster)
    assert.equal(claim?.status?.reservedFor?.length, 3)
    for (const name of ['a', 'b', 'c'])
      await completed(clock, client.delete(pods, { namespace: 'default', name }))
    await clock.advance(5_000)
    const [freed] = await claimsOf(cluster)
    assert.equal(freed?.status?.allocation, undefined)
    assert.equal(freed?.status?.reservedFor, undefined)
  })
  it('is not delayed by other pods that start with the same claim', async () => {
    await using cluster = await start()
    const { clock, client } = cluster
    const devices = [{ name: 'shared' }]
    const pool = { name: 'network', generation: 1, resourceSliceCount: 1 }
    await completed(
      clock,
      client.create(resourceSlices, {
        metadata: { name: 'network' },
        spec: { driver: 'net.example.com', allNodes: true, pool, devices },
      }),
    )
    const selectors = [{ cel: { expression: 'device.driver == "net.example.com"' } }]
    await completed(clock, client.create(deviceClasses, { metadata: { name: 'net' }, spec: { selectors } }))
    const names = Array.from({ length: 20 }, (_, index) => `p${index}`)
    for (const name of names) await createPod(cluster, podWith(name, { resourceClaimName: 'shared' }))
    await clock.advance(1_000)
    const metadata = { namespace: 'default', name: 'shared' }
    const spec = { devices: { requests: [{ name: 'net', exactly: { deviceClassName: 'net' } }] } }
    await completed(clock, client.create(resourceClaims, { metadata, spec }))
    // Less than the shortest delay of a retry.
    await clock.advance(900)
    const assigned = await Promise.all(names.map(async name => (await getPod(cluster, name))?.spec?.nodeName))
    assert.equal(assigned.filter(node => node === undefined).length, 0)
    const [claim] = await claimsOf(cluster)
    assert.equal(claim?.status?.reservedFor?.length, 20)
  })
  it('is not scheduled while its claim is being deleted', async () => {
    await using cluster = await start()
    const { clock, client } = cluster
    const metadata = { namespace: 'default', name: 'shared', finalizers: ['example.com/held'] }
    await completed(clock, client.create(resourceClaims, { metadata, spec: claimSpec(1) }))
    await completed(clock, client.delete(resourceClaims, metadata))
    await createPod(cluster, podWith('a', { resourceClaimName: 'shared' }))
    await clock.advance(5_000)
    const pod = await getPod(cluster, 'a')
    assert.equal(pod?.spec?.nodeName, undefined)
    assert.equal(pod?.status?.conditions, undefined, 'kube-scheduler does not try the pod')
    await completed(
      clock,
      client.patch(resourceClaims, metadata, { merge: { metadata: { finalizers: null } } }),
    )
    const { name, namespace } = metadata
    await completed(
      clock,
      client.create(resourceClaims, { metadata: { name, namespace }, spec: claimSpec(1) }),
    )
    await clock.advance(1_000)
    assert.ok((await getPod(cluster, 'a'))?.spec?.nodeName)
  })

  it('is scheduled with another claim of that name if its claim is deleted while the pod is bound', async () => {
    let deletions = 0
    await using cluster: TestCluster = await start({
      between: transport => ({
        request: async request => {
          const { method, path } = request
          if (method === 'PATCH' && path.includes('/resourceclaims/shared') && deletions++ === 0)
            await transport.request({ ...request, method: 'DELETE', body: '' })
          return transport.request(request)
        },
        stream: request => transport.stream(request),
        close: () => transport.close(),
      }),
    })
    const { clock, client } = cluster
    const claim = { metadata: { namespace: 'default', name: 'shared' }, spec: claimSpec(1) }
    await completed(clock, client.create(resourceClaims, claim))
    await createPod(cluster, podWith('a', { resourceClaimName: 'shared' }))
    await clock.advance(20_000)
    assert.deepEqual(await claimsOf(cluster), [])
    assert.equal((await getPod(cluster, 'a'))?.spec?.nodeName, undefined)
    await completed(clock, client.create(resourceClaims, claim))
    await clock.advance(20_000)
    assert.ok((await getPod(cluster, 'a'))?.spec?.nodeName)
    const [allocated] = await claimsOf(cluster)
    assert.equal(allocated?.status?.reservedFor?.length, 1)
  })
})
