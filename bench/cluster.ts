// SPDX-License-Identifier: Apache-2.0

// Throughput of the embedded cluster on this machine: `node tools/run.mjs bench/cluster.ts`.
import { fork } from 'node:child_process'
import { Agent, request } from 'node:https'
import { adminUser, createCluster, nodeOf, plainNodes, serveHttps } from '@grove/cluster'

const podCount = 20_000
const nodeCount = 5_000
const httpsCount = 5_000
/** Numbers of concurrent watches. The cost of one event must not depend on it. */
const watchers = [1, 10, 50, 200]
const parallel = 64

const podBody = (name: string) =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      labels: { 'app.kubernetes.io/name': 'bench', 'grove.io/podclique': 'prefill', index: name },
      ownerReferences: [
        { apiVersion: 'grove.io/v1alpha1', kind: 'PodClique', name: 'prefill', uid: 'u', controller: true },
      ],
    },
    spec: {
      containers: [
        {
          name: 'server',
          image: 'registry.example/inference:1',
          env: [
            { name: 'RANK', value: '1' },
            { name: 'SIZE', value: '8' },
          ],
          ports: [{ containerPort: 8000 }],
          resources: { limits: { 'nvidia.com/gpu': '8', cpu: '16', memory: '64Gi' } },
        },
      ],
      schedulingGates: [{ name: 'grove.io/podgang-pending-creation' }],
    },
  })

interface Endpoint {
  readonly url: string
  readonly ca: string
  readonly certificate: string
  readonly key: string
}

if (process.argv[2] === '--client') process.on('message', message => void runClient(message as Endpoint))
else await main()

async function main(): Promise<void> {
  await inProcess()
  await overHttps()
}

async function inProcess(): Promise<void> {
  const cluster = createCluster({ seed: 1 })
  const before = memory()
  const post = (path: string, body: string) =>
    cluster.handle({ method: 'POST', path, query: new URLSearchParams(), headers: {}, body, user: adminUser })
  const create = (index: number) => post('/api/v1/namespaces/default/pods', podBody(`pod-${index}`))
  for (let index = 0; index < 500; index++) await create(podCount + index)
  const started = now()
  for (let index = 0; index < podCount; index++) {
    const { status, body } = await create(index)
    if (status !== 201) throw new Error(body)
  }
  report('pod creates, in process', podCount, started)
  console.log(`memory for ${podCount} pods: ${memory() - before} MiB (process: ${memory()} MiB)`)

  for (const plan of plainNodes(nodeCount, { gpus: 8 })) {
    const { status, body } = await post('/api/v1/nodes', JSON.stringify(nodeOf(plan, Date.now())))
    if (status !== 201) throw new Error(body)
  }
  console.log(`process with ${podCount} pods and ${nodeCount} nodes: ${memory()} MiB`)

  const listed = performance.now()
  const { body = '' } = await get(cluster, '/api/v1/pods')
  console.log(
    `list of all: ${(performance.now() - listed).toFixed(0)} ms, ${(body.length / 2 ** 20).toFixed(1)} MiB`,
  )
  for (const count of watchers) await fanOut(cluster, count)
  cluster.stop()
}

function get(cluster: ReturnType<typeof createCluster>, path: string, query = '', signal?: AbortSignal) {
  return cluster.handle({
    method: 'GET',
    path,
    query: new URLSearchParams(query),
    headers: {},
    user: adminUser,
    signal,
  })
}

/** Writes while many clients watch; every watch must receive every event. */
async function fanOut(cluster: ReturnType<typeof createCluster>, count: number): Promise<void> {
  const writes = 2_000
  const stop = new AbortController()
  const from = cluster.store.revision
  let delivered = 0
  const { promise, resolve } = Promise.withResolvers<void>()
  for (let i = 0; i < count; i++) {
    const { stream } = await get(
      cluster,
      '/api/v1/configmaps',
      `watch=true&resourceVersion=${from}`,
      stop.signal,
    )
    void (async () => {
      for await (const chunk of stream ?? []) {
        for (const char of chunk) if (char === '\n') delivered++
        if (delivered === writes * count) resolve()
      }
    })()
  }
  const started = now()
  for (let i = 0; i < writes; i++)
    await cluster.handle({
      method: 'POST',
      path: '/api/v1/namespaces/default/configmaps',
      query: new URLSearchParams(),
      headers: {},
      body: JSON.stringify({ metadata: { name: `w${count}-${i}` }, data: { key: 'value' } }),
      user: adminUser,
    })
  await promise
  report(`events delivered to ${count} watches`, writes * count, started)
  stop.abort()
}

async function overHttps(): Promise<void> {
  const cluster = createCluster({ seed: 1 })
  const front = await serveHttps({ handle: cluster.handle })
  const { authority, admin } = front.certificates
  const endpoint = { url: front.url, ca: authority, certificate: admin.cert, key: admin.key }
  const child = fork(import.meta.filename, ['--client'])
  const nextMessage = (child: ReturnType<typeof fork>) =>
    new Promise(resolve => child.once('message', resolve))
  child.send(endpoint)
  await nextMessage(child)
  const warm = now()
  await nextMessage(child)
  report('pod creates, HTTPS, the server alone', httpsCount, warm)
  child.kill()
  const started = now()
  await createMany(endpoint, 'here', httpsCount)
  report('pod creates, HTTPS, client and server on one core', httpsCount, started)
  await front.close()
  cluster.stop()
}

async function runClient(endpoint: Endpoint): Promise<void> {
  await createMany(endpoint, 'warm', 500)
  process.send?.('warm')
  await createMany(endpoint, 'other', httpsCount)
  process.send?.('done')
}

async function createMany(endpoint: Endpoint, prefix: string, count: number): Promise<void> {
  const agent = new Agent({
    keepAlive: true,
    maxSockets: parallel,
    ca: endpoint.ca,
    cert: endpoint.certificate,
    key: endpoint.key,
  })
  let next = 0
  const worker = async () => {
    while (next < count) await post(agent, endpoint.url, podBody(`${prefix}-${next++}`))
  }
  await Promise.all(Array.from({ length: parallel }, worker))
  agent.destroy()
}

function post(agent: Agent, url: string, body: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      `${url}/api/v1/namespaces/default/pods`,
      {
        method: 'POST',
        agent,
        headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
      },
      incoming => {
        incoming.resume()
        incoming.on('end', () =>
          incoming.statusCode === 201 ? resolve() : reject(new Error(String(incoming.statusCode))),
        )
      },
    )
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}

/** A point in time on two clocks: wall-clock time, and CPU time of this process. */
function now(): { readonly wall: number; readonly cpu: number } {
  const { user, system } = process.cpuUsage()
  return { wall: performance.now(), cpu: (user + system) / 1000 }
}

/** On a busy machine, use only the second figure. */
function report(what: string, count: number, started: ReturnType<typeof now>): void {
  const { wall, cpu } = now()
  const perSecond = (milliseconds: number) => Math.round((count / milliseconds) * 1000)
  console.log(`${what}: ${perSecond(wall - started.wall)}/s, ${perSecond(cpu - started.cpu)} per CPU second`)
}

function memory(): number {
  globalThis.gc?.()
  return Math.round(process.memoryUsage().rss / 2 ** 20)
}
