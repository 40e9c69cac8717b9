// SPDX-License-Identifier: Apache-2.0

// Tests the server on the embedded cluster, with exactly the permissions of the dashboard.
import assert from 'node:assert/strict'
import { type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { customResourceDefinitions } from '@grove/api'
import {
  type Client,
  createClient,
  defineResource,
  FakeClock,
  type KubeObject,
  loadKubeconfig,
} from '@grove/kube'
import { waitFor } from '@grove/test-kubernetes'
import { embeddedHost, type OperatorHost } from '@grove/test-scenarios'
import { dashboardClusterRole } from '../access/cluster-role.ts'
import { DashboardCaches } from '../caches/caches.ts'
import type { NodesDocument, OverviewDocument, SetDocument } from '../documents/types.ts'
import { type RunningDashboard, startDashboard } from '../start-dashboard.ts'
import { hostileText } from '../testing/hostile-text.ts'
import { setManifests } from '../testing/objects.ts'
import { coalescedMs, heartbeatMs, maxStreams } from './limits.ts'
import { DashboardServer } from './server.ts'

const user = 'dashboard'
const namespace = 'default'

interface Reply {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

describe('the dashboard', () => {
  let host: OperatorHost
  let client: Client
  let dashboard: RunningDashboard

  before(async () => {
    host = await embeddedHost()
    for (const definition of customResourceDefinitions) await host.apply([definition])
    const role = dashboardClusterRole()
    await host.apply([
      role,
      {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRoleBinding',
        metadata: { name: role.metadata.name },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role.metadata.name },
        subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }],
      },
      {
        apiVersion: 'v1',
        kind: 'Node',
        metadata: { name: 'node-0', labels: { 'topology.kubernetes.io/zone': 'zone-0' } },
      },
    ])
    client = createClient(loadKubeconfig({ path: host.kubeconfigFor({ user }) }))
    dashboard = await startDashboard(client, { port: 0 })
    await dashboard.caches.waitForSync()
    await createSet('llm', 2)
    await createSet('waiting', 0, hostileText)
    await host.client.create(events, {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: 'waiting.1', namespace },
      involvedObject: { apiVersion: 'grove.io/v1alpha1', kind: 'PodCliqueSet', namespace, name: 'waiting' },
      type: 'Warning',
      reason: 'Hostile',
      message: hostileText,
      lastTimestamp: '2030-01-01T00:00:00Z',
    } as KubeObject)
    await waitFor('all objects', async () => {
      const { totals, events: shown } = await document<OverviewDocument>('/api/overview')
      return totals.pods === 4 && totals.gangs === 2 && totals.pendingGangs === 1 && shown.length === 1
    })
  })

  after(async () => {
    await dashboard?.stop()
    await client?.close()
    await host?.stop()
  })

  test('shows sets, gangs, pods, nodes and events with its permissions', async () => {
    const { sets, notes } = await document<OverviewDocument>('/api/overview')
    assert.deepEqual(notes, { isStale: false, problems: [] })
    assert.deepEqual(sets.map(({ name }) => name).sort(), ['llm', 'waiting'])
    const { pods, gangs } = await document<SetDocument>('/api/sets/default/llm')
    assert.deepEqual(
      pods['llm-0-web']?.rows.map(({ state }) => state),
      ['Ready', 'Ready'],
    )
    assert.equal(gangs[0]?.placementScore, 0.75)
    const { root } = await document<NodesDocument>('/api/nodes')
    assert.deepEqual([root.nodes, root.children[0]?.name], [1, 'zone-0'])
    assert.deepEqual(root.devices, { 'nvidia.com/gpu': { allocatable: 0, used: 4 } })
  })

  test('returns hostile texts as JSON strings, and never as HTML', async () => {
    const reply = await get('/api/sets/default/waiting')
    assert.match(reply.headers['content-type'] ?? '', /^application\/json/)
    assert.equal(reply.headers['x-content-type-options'], 'nosniff')
    const { gangs, events: shown } = JSON.parse(reply.body) as SetDocument
    assert.equal(gangs[0]?.cause?.message, hostileText.toWellFormed())
    assert.equal(shown[0]?.message, hostileText.toWellFormed())
  })

  test('every response forbids foreign and inline scripts, frames and sniffing', async () => {
    for (const path of ['/', '/page.js', '/style.css', '/api/overview', '/missing', '/api/sets/a/b']) {
      const { headers } = await get(path)
      const policy = headers['content-security-policy'] as string
      assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self';/)
      assert.doesNotMatch(policy, /unsafe|https?:|\*/)
      assert.match(policy, /frame-ancestors 'none'/)
      assert.equal(headers['x-content-type-options'], 'nosniff')
      assert.equal(headers['access-control-allow-origin'], undefined)
    }
  })

  test('the page loads its own files only and has no inline script or style', async () => {
    const { body } = await get('/')
    assert.doesNotMatch(body, /https?:|<style|style=|\son\w+=|<script(?! type="module" src="page\.js"><)/)
    const links = [...body.matchAll(/(?:src|href)="([^"#]+)"/g)].map(([, link]) => `/${link}`)
    assert.deepEqual(links.sort(), ['/icon.svg', '/page.js', '/style.css'])
    for (const link of links) assert.equal((await get(link)).status, 200, link)
    assert.doesNotMatch(
      (await get('/page.js')).body,
      /innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(/,
    )
  })

  test('allows GET and HEAD only', async () => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'])
      for (const path of ['/', '/api/overview', '/api/changes']) {
        const { status, headers } = await get(path, { method })
        assert.deepEqual([status, headers.allow], [405, 'GET, HEAD'], `${method} ${path}`)
      }
    const head = await get('/api/overview', { method: 'HEAD' })
    assert.deepEqual([head.status, head.body], [200, ''])
    assert.ok(Number(head.headers['content-length']) > 0)
  })

  test('rejects host names that it does not serve', async () => {
    for (const path of ['/', '/api/overview', '/api/changes']) {
      const { status, body } = await get(path, { headers: { host: 'attacker.example' } })
      assert.equal(status, 421)
      assert.match(body, /--allowed-hosts/)
    }
  })

  test('returns an error that names the missing part for unknown paths and sets', async () => {
    for (const path of [
      '/api',
      '/api/overview/a/b',
      '/api/sets',
      '/api/sets/a',
      '/api/sets/%E0/x',
      '/__proto__',
    ])
      assert.equal((await get(path)).status, 404, path)
    const { status, body } = await get('/api/sets/default/absent')
    assert.deepEqual(
      [status, JSON.parse(body)],
      [404, { error: 'PodCliqueSet default/absent does not exist' }],
    )
  })

  test('a document that has not changed is not sent again', async () => {
    const { headers } = await get('/api/nodes')
    const second = await get('/api/nodes', { headers: { 'if-none-match': headers.etag } })
    assert.deepEqual([second.status, second.body], [304, ''])
  })

  test('a stream reports a change, after which the document has it', async () => {
    const stream = await openStream()
    let revision = await stream.next()
    await createSet('later', 2)
    const isShown = async () => {
      const { sets } = await document<OverviewDocument>('/api/overview')
      return sets.some(({ name }) => name === 'later')
    }
    do {
      const next = await stream.next()
      assert.ok(next > revision)
      revision = next
    } while (!(await isShown()))
    stream.close()
  })

  test('changes within the interval are one event, and each heartbeat is one more', async () => {
    const clock = new FakeClock()
    const caches = new DashboardCaches(client)
    const server = new DashboardServer({ caches, port: 0, clock })
    await server.start()
    const end = new AbortController()
    const watching = caches.run(end.signal)
    await caches.waitForSync()
    const stream = await openStream(server.url)
    assert.equal(await stream.next(), 1)
    await clock.advance(coalescedMs)
    assert.equal(await stream.next(), 2)
    await clock.advance(heartbeatMs)
    assert.equal(await stream.next(), 3)
    stream.close()
    end.abort()
    await server.stop()
    await watching
  })

  test('limits open streams, and still serves pages at the limit', async () => {
    const streams = await Promise.all(Array.from({ length: maxStreams }, openStream))
    const { status, body } = await get('/api/changes')
    assert.equal(status, 503)
    assert.match(body, /close some/)
    assert.equal((await get('/')).status, 200)
    for (const stream of streams) stream.close()
    await waitFor('the streams to be closed', async () => {
      const again = await openStream().catch(() => undefined)
      again?.close()
      return again !== undefined
    })
  })

  test('closes connections with too long headers or a broken request', async () => {
    const { status } = await get(`/${'a'.repeat(20_000)}`)
    assert.equal(status, 431)
    const text = await new Promise<string>(resolve => {
      const socket = connect(Number(new URL(dashboard.url).port), '127.0.0.1')
      let received = ''
      socket.on('data', chunk => (received += chunk))
      socket.on('close', () => resolve(received))
      socket.end('GET /\x00 HTTP/1.1\r\n\r\n')
    })
    assert.match(text, /^HTTP\/1\.1 400 /)
  })

  test('reports which kind it cannot read, and shows the rest', async () => {
    const role = dashboardClusterRole()
    const rules = role.rules!.map(rule => ({
      ...rule,
      resources: rule.resources!.filter(resource => resource !== 'nodes' && resource !== 'events'),
    }))
    const name = 'without-nodes'
    await host.apply([
      { ...role, metadata: { name }, rules },
      {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRoleBinding',
        metadata: { name },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
        subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name }],
      },
    ])
    await withDashboard(name, async url => {
      const overview = async () => {
        const { status, body } = await get('/api/overview', {}, url)
        return status === 200 ? (JSON.parse(body) as OverviewDocument) : undefined
      }
      // The page is available before the API server has rejected both watches.
      await waitFor('both problems', async () => (await overview())?.notes.problems.length === 2)
      const { sets, notes } = (await overview())!
      assert.ok(sets.length >= 2)
      assert.deepEqual(notes.problems.map(({ resource }) => resource).sort(), ['events', 'nodes'])
      assert.match(notes.problems[0]?.message ?? '', /forbidden/)
    })
    await withDashboard('stranger', async url => {
      await waitFor('the reason', async () => /forbidden/.test((await get('/api/overview', {}, url)).body))
      assert.equal((await get('/api/overview', {}, url)).status, 503)
      assert.equal((await get('/', {}, url)).status, 200)
    })
  })

  test('reports that the CRDs are missing', async () => {
    const bare = await embeddedHost()
    const admin = { user: 'kubernetes-admin', groups: ['system:masters'] }
    const own = createClient(loadKubeconfig({ path: bare.kubeconfigFor(admin) }))
    const other = await startDashboard(own, { port: 0 })
    const error = async () => JSON.parse((await get('/api/overview', {}, other.url)).body).error as string
    try {
      await waitFor('the reason', async () => /cannot read podclique/.test(await error()))
      assert.match(await error(), /does not serve this kind; install the operator or its CRDs first$/)
    } finally {
      await other.stop()
      await own.close()
      await bare.stop()
    }
  })

  test('shows only one namespace if configured, without nodes', async () => {
    const other = await startDashboard(client, { port: 0, namespace: 'elsewhere' })
    await other.caches.waitForSync()
    const overview = JSON.parse((await get('/api/overview', {}, other.url)).body) as OverviewDocument
    assert.deepEqual([overview.sets, overview.notes.namespace], [[], 'elsewhere'])
    const { root, notes } = JSON.parse((await get('/api/nodes', {}, other.url)).body) as NodesDocument
    assert.deepEqual([root.nodes, notes.problems], [0, []])
    await other.stop()
  })

  test('stops gracefully while streams are open', async () => {
    const own = createClient(loadKubeconfig({ path: host.kubeconfigFor({ user }) }))
    const other = await startDashboard(own, { port: 0 })
    const stream = await openStream(other.url)
    await other.stop()
    await stream.ended
    await own.close()
    await assert.rejects(get('/', {}, other.url), { code: 'ECONNREFUSED' })
  })

  async function createSet(name: string, readyPods: number, gangMessage?: string): Promise<void> {
    const message = gangMessage === undefined ? {} : { gangMessage: gangMessage.toWellFormed() }
    const { set, clique, gang, pods } = setManifests({ namespace, name, pods: 2, readyPods, ...message })
    for (const object of [set, clique, gang, ...pods]) await createWithStatus(object)
  }

  async function createWithStatus(object: KubeObject): Promise<void> {
    const resource = resourceOf(object)
    const { metadata } = await host.client.create(resource, object)
    await host.client.raw({
      verb: 'patch',
      method: 'PATCH',
      path: `${pathOf(object)}/${metadata.name}/status`,
      contentType: 'application/merge-patch+json',
      body: { status: (object as { status?: object }).status },
    })
  }

  async function withDashboard(as: string, work: (url: string) => Promise<void>): Promise<void> {
    const own = createClient(loadKubeconfig({ path: host.kubeconfigFor({ user: as }) }))
    const other = await startDashboard(own, { port: 0 })
    try {
      await work(other.url)
    } finally {
      await other.stop()
      await own.close()
    }
  }

  async function document<T>(path: string): Promise<T> {
    const { status, body } = await get(path)
    assert.equal(status, 200, body)
    return JSON.parse(body) as T
  }

  function get(
    path: string,
    options: { method?: string; headers?: Record<string, string | undefined> } = {},
    url = dashboard.url,
  ): Promise<Reply> {
    return new Promise((resolve, reject) => {
      const { hostname, port } = new URL(url)
      request({ hostname, port, path, agent: false, ...options }, response => {
        let body = ''
        response.setEncoding('utf8').on('data', chunk => (body += chunk))
        response.on('end', () => resolve({ status: response.statusCode!, headers: response.headers, body }))
      })
        .on('error', reject)
        .end()
    })
  }

  async function openStream(url = dashboard.url) {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      request(new URL('api/changes', url), { agent: false }, resolve).on('error', reject).end()
    })
    if (response.statusCode !== 200) {
      response.destroy()
      throw new Error(`status ${response.statusCode}`)
    }
    assert.equal(response.headers['content-type'], 'text/event-stream')
    let text = ''
    response.setEncoding('utf8').on('data', chunk => (text += chunk))
    response.on('error', () => {})
    const ended = new Promise<void>(resolve => response.on('close', () => resolve()))
    return {
      ended,
      /** The next revision. */
      async next(): Promise<number> {
        let found: RegExpExecArray | null = null
        await waitFor('an event', async () => {
          found = /data: (\d+)\n\n/.exec(text)
          return found !== null
        })
        const [all, revision] = found!
        text = text.slice(text.indexOf(all!) + all!.length)
        return Number(revision)
      },
      close: () => response.destroy(),
    }
  }
})

const events = defineResource<KubeObject>({
  group: '',
  version: 'v1',
  resource: 'events',
  kind: 'Event',
  namespaced: true,
})

function resourceOf({ apiVersion = '', kind = '' }: KubeObject) {
  const [group = '', version = ''] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion]
  return defineResource<KubeObject>({
    group,
    version,
    resource: `${kind.toLowerCase()}s`,
    kind,
    namespaced: true,
  })
}

function pathOf({ apiVersion = '', kind = '', metadata }: KubeObject): string {
  const base = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`
  return `${base}/namespaces/${metadata?.namespace}/${kind.toLowerCase()}s`
}
