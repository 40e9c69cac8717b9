// SPDX-License-Identifier: Apache-2.0

// A complete controller process against a real API server: cache, election, controller, fenced writes, probes,
// protected metrics.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Kubernetes, startKubernetes, waitFor } from '@grove/test-kubernetes'
import { loadKubeconfig } from '../auth/index.ts'
import { WatchCache } from '../cache/index.ts'
import { type Client, createClient, createClientOn, createTransport, requestToken } from '../client/index.ts'
import { systemClock } from '../clock/index.ts'
import { Controller, sourceOf } from '../controller/index.ts'
import { FencedTransport, LeaseElector, leaseClient, leases } from '../lease/index.ts'
import { createRegistry, requestMetrics } from '../metrics/index.ts'
import { configMaps } from '../testing/config-maps.ts'
import { reviewedAccess, reviewerOf } from './access.ts'
import { Manager } from './manager.ts'

const address = { host: '127.0.0.1', port: 0 }

let kubernetes: Kubernetes
let client: Client
let namespace: string
before(async () => {
  kubernetes = await startKubernetes({ controllers: false, scheduler: false, kwok: false })
  client = createClient(loadKubeconfig({ path: kubernetes.kubeconfig }))
  namespace = await kubernetes.newNamespace('manager')
})
after(async () => {
  await client?.close()
  await kubernetes?.stop()
})

function newProcess(reconciled: Set<string>) {
  const config = loadKubeconfig({ path: kubernetes.kubeconfig })
  const lock = { namespace, name: 'lock' }
  const registry = createRegistry()
  const election = new LeaseElector({
    ...lock,
    client: leaseClient(client, lock),
    clock: systemClock,
    registry,
  })
  const manager = new Manager({
    clock: systemClock,
    registry,
    election,
    probes: address,
    metrics: { ...address, access: reviewedAccess(reviewerOf(client), systemClock) },
  })
  const writer = createClientOn(new FencedTransport(createTransport(config), manager.leadership), {
    credentials: config.credentials,
    onRequest: requestMetrics(registry, config.server),
  })
  const cache = new WatchCache(client, configMaps, { namespace })
  manager.addCache('configmaps', cache)
  manager.addController(
    'copier',
    new Controller({
      name: 'copier',
      registry,
      sources: [sourceOf(cache.onChange.bind(cache), change => [change.new?.metadata.name ?? ''])],
      reconcile: async (name, { signal }) => {
        const found = cache.get({ namespace, name })
        if (!found?.data?.wanted || found.data.wanted === found.data.actual) return
        await writer.patch(
          configMaps,
          { namespace, name },
          { merge: { data: { actual: found.data.wanted } } },
          { signal },
        )
        reconciled.add(name)
      },
    }),
  )
  const [probes, metrics] = manager.endpoints
  const stop = new AbortController()
  return { manager, stop, running: manager.run(stop.signal), probes: probes!, metrics: metrics! }
}

async function tokenOf(name: string): Promise<string> {
  await kubernetes.request('POST', `/api/v1/namespaces/${namespace}/serviceaccounts`, {
    body: { metadata: { name } },
  })
  return (await requestToken(client, { namespace, name })).token
}

describe('a controller process', () => {
  it('reconciles existing and new objects, leads once, serves probes and metrics, and hands over on stop', async () => {
    for (const name of ['a', 'b'])
      await client.create(configMaps, { metadata: { namespace, name }, data: { wanted: name } })
    const first = newProcess(new Set())
    const actual = async (name: string) => (await client.get(configMaps, { namespace, name })).data?.actual
    await waitFor(
      'existing objects to be reconciled',
      async () => (await actual('a')) === 'a' && (await actual('b')) === 'b',
    )
    await client.create(configMaps, { metadata: { namespace, name: 'c' }, data: { wanted: 'c' } })
    await waitFor('new objects to be reconciled', async () => (await actual('c')) === 'c')

    const reconciledBySecond = new Set<string>()
    const second = newProcess(reconciledBySecond)
    await waitFor('the second process to serve', () => second.probes.port !== undefined)
    const ready = await fetch(`http://127.0.0.1:${second.probes.port}/readyz?verbose`)
    assert.deepEqual([ready.status, await ready.text()], [200, '[+]ping ok\nhealthz check passed\n'])
    assert.equal(second.manager.leadership.isHeld(), false)

    first.stop.abort(new Error('stopped'))
    await first.running
    assert.equal((await client.get(leases, { namespace, name: 'lock' })).spec?.holderIdentity, '')
    await client.create(configMaps, { metadata: { namespace, name: 'd' }, data: { wanted: 'd' } })
    await waitFor('the second process to take over', async () => (await actual('d')) === 'd')
    assert.deepEqual([...reconciledBySecond], ['d'], 'completed work is not repeated')

    await checkMetrics(second.metrics.port!)
    second.stop.abort(new Error('stopped'))
    await second.running
  })

  async function checkMetrics(port: number): Promise<void> {
    const read = async (token?: string) => {
      const headers = token ? { authorization: `Bearer ${token}` } : {}
      const response = await fetch(`http://127.0.0.1:${port}/metrics`, { headers })
      return { status: response.status, text: await response.text() }
    }
    const [prometheus, stranger] = [await tokenOf('prometheus'), await tokenOf('stranger')]
    await kubernetes.apply([
      {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRole',
        metadata: { name: 'metrics-reader' },
        rules: [{ nonResourceURLs: ['/metrics'], verbs: ['get'] }],
      },
      {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRoleBinding',
        metadata: { name: 'metrics-reader' },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'metrics-reader' },
        subjects: [{ kind: 'ServiceAccount', name: 'prometheus', namespace }],
      },
    ])
    assert.equal((await read()).status, 401)
    assert.equal((await read('not-a-token')).status, 401)
    const rejected = await read(stranger)
    assert.deepEqual(
      [rejected.status, rejected.text],
      [403, `Authorization denied for user system:serviceaccount:${namespace}:stranger\n`],
    )
    // The authorizer sees a new binding a moment after it is stored.
    const { text } = await waitFor('the reader to be authorized', async () => {
      const response = await read(prometheus)
      return response.status === 200 ? response : undefined
    })
    for (const line of [
      /^leader_election_master_status\{name="lock"\} 1$/m,
      /^controller_runtime_reconcile_total\{controller="copier",result="success"\} \d+$/m,
      /^rest_client_requests_total\{code="200",method="PATCH",host="127\.0\.0\.1:\d+"\} 1$/m,
      /^workqueue_depth\{name="copier",controller="copier"\} 0$/m,
    ])
      assert.ok(line.test(text), line.source)
  }
})
