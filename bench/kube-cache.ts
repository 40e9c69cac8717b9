// SPDX-License-Identifier: Apache-2.0

// A watch cache of 20,000 pods on a real API server: time until it is in sync, memory per pod, events per second, and
// lookups by index.
//   npm run bench -- kube-cache [--pods=20000]
import { parseArgs } from 'node:util'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import {
  byControllerUid,
  byLabel,
  type Client,
  createClient,
  createClientOn,
  type KubeObject,
  loadKubeconfig,
  type Stored,
  type Transport,
  WatchCache,
  type WatchCacheOptions,
} from '@grove/kube'
import { startKubernetes } from '@grove/test-kubernetes'
import { createInterner, internValues } from './kube/interner.ts'
import { type Pod, podOf, pods } from './kube/pods.ts'

const { values } = parseArgs({ options: { pods: { type: 'string', default: '20000' } } })
const count = Number(values.pods)
setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

type Index = 'owner' | 'clique'
const indexes = { owner: byControllerUid, clique: byLabel('example.com/clique', { namespaced: true }) }

interface SmallPod extends KubeObject {
  readonly nodeName?: string
  readonly gated: boolean
  readonly phase?: string
  readonly conditions: readonly { readonly type: string; readonly status: string }[]
}

/** The fields of a pod that the operator reads. */
function createProjection() {
  const intern = createInterner()
  return ({ metadata, spec, status }: Stored<Pod>): Stored<SmallPod> => ({
    metadata: {
      name: metadata.name,
      namespace: intern(metadata.namespace),
      uid: metadata.uid,
      resourceVersion: metadata.resourceVersion,
      creationTimestamp: intern(metadata.creationTimestamp),
      deletionTimestamp: metadata.deletionTimestamp,
      labels: internValues(metadata.labels, intern),
      ownerReferences: metadata.ownerReferences?.map(owner => ({
        apiVersion: intern(owner.apiVersion),
        kind: intern(owner.kind),
        name: intern(owner.name),
        uid: intern(owner.uid),
        controller: owner.controller,
      })),
    },
    nodeName: intern(spec?.nodeName),
    gated: (spec?.schedulingGates?.length ?? 0) > 0,
    phase: status?.phase,
    conditions: status?.conditions?.map(({ type, status }) => ({ type: intern(type), status })) ?? [],
  })
}

function heap(): number {
  for (let i = 0; i < 3; i++) collectGarbage()
  return process.memoryUsage().heapUsed
}

async function fill(client: Client, namespace: string, from: number, to: number): Promise<void> {
  const numbers = Array.from({ length: to - from }, (_, i) => from + i)
  await Promise.all(numbers.map(i => client.create(pods, podOf(namespace, i))))
}

/** Time until the cache is in sync, and retained heap bytes per pod. */
async function sync<P extends KubeObject>(
  client: Client,
  options: WatchCacheOptions<Pod, P, Index>,
): Promise<{
  seconds: number
  bytes: number
  cpu: number
  cache: WatchCache<Pod, P, Index>
  stop: () => Promise<void>
}> {
  const before = heap()
  const cache = new WatchCache<Pod, P, Index>(client, pods, { indexes, ...options })
  const stop = new AbortController()
  const cpu = process.cpuUsage()
  const startedAt = performance.now()
  const running = cache.run(stop.signal)
  await cache.waitForSync()
  const seconds = (performance.now() - startedAt) / 1000
  const used = process.cpuUsage(cpu)
  const end = async () => {
    stop.abort()
    await running
  }
  return {
    seconds,
    bytes: (heap() - before) / cache.size,
    cpu: (used.user + used.system) / 1e6,
    cache,
    stop: end,
  }
}

/** Sends each pod again as MODIFIED, from memory, through splitter, decoder, projection and indexes. */
async function eventsPerSecond(full: readonly Stored<Pod>[], managedFields: boolean): Promise<number> {
  const events = full.map(object => {
    const metadata = { ...object.metadata, resourceVersion: `9${object.metadata.resourceVersion}` }
    return `${JSON.stringify({ type: 'MODIFIED', object: { ...object, metadata } })}\n`
  })
  const end = { metadata: { resourceVersion: '1', annotations: { 'k8s.io/initial-events-end': 'true' } } }
  const bytes = Buffer.from(`${JSON.stringify({ type: 'BOOKMARK', object: end })}\n${events.join('')}`)
  const transport: Transport = {
    request: () => Promise.reject(new Error('not asked')),
    close: async () => {},
    stream: async () => ({
      status: 200,
      headers: {},
      body: (async function* () {
        // Chunks of the size that a TLS socket delivers.
        for (let at = 0; at < bytes.length; at += 16_384) yield bytes.subarray(at, at + 16_384)
        await new Promise(() => {})
      })(),
    }),
  }
  const cache = new WatchCache<Pod, SmallPod, Index>(createClientOn(transport, { managedFields }), pods, {
    indexes,
    project: createProjection(),
  })
  const { promise, resolve } = Promise.withResolvers<void>()
  let left = full.length
  cache.onChange(() => {
    if (--left === 0) resolve()
  })
  const startedAt = performance.now()
  void cache.run(new AbortController().signal)
  await promise
  return full.length / ((performance.now() - startedAt) / 1000)
}

function lookupsPerSecond(cache: WatchCache<Pod, SmallPod, Index>): number {
  const owners = [...new Set(cache.list().map(({ metadata }) => metadata.ownerReferences![0]!.uid))]
  let found = 0
  const startedAt = performance.now()
  const rounds = Math.ceil(200_000 / owners.length)
  for (let i = 0; i < rounds; i++) for (const owner of owners) found += cache.byIndex('owner', owner).length
  const seconds = (performance.now() - startedAt) / 1000
  if (found !== rounds * cache.size) throw new Error('look-ups missed pods')
  return (rounds * owners.length) / seconds
}

await using cluster = await startKubernetes({ controllers: false, scheduler: false, kwok: false })
const client = createClient(loadKubeconfig({ path: cluster.kubeconfig }), { managedFields: false })
const small = await cluster.newNamespace('bench')
const large = await cluster.newNamespace('bench')
await fill(client, small, 0, count / 10)
await fill(client, large, count / 10, count)

const rows: Record<string, object> = {}
const row = ({ seconds, bytes, cpu }: { seconds: number; bytes: number; cpu: number }) => ({
  'sync s': Number(seconds.toFixed(2)),
  'CPU s': Number(cpu.toFixed(2)),
  'heap bytes/pod': Math.round(bytes),
})
for (const [name, streamingList] of [
  ['projected, streaming list', true],
  ['projected, 500 per page', false],
] as const) {
  // The first run warms up the server's cache and the compiled code.
  for (const attempt of ['cold', 'warm']) {
    const run = await sync<SmallPod>(client, { streamingList, project: createProjection() })
    rows[`${name}, ${attempt}`] = row(run)
    await run.stop()
  }
}
const whole = await sync<Pod>(client, {})
rows['whole but managedFields, streaming list'] = row(whole)
await whole.stop()
console.log(`\n${count} pods, Kubernetes ${cluster.version}`)
console.table(rows)

const { items } = await client.list(pods, { managedFields: true })
for (const managedFields of [true, false]) {
  await eventsPerSecond(items, managedFields)
  const rate = Math.round(await eventsPerSecond(items, managedFields))
  console.log(`events applied, managedFields ${managedFields ? 'parsed' : 'cut out before'}: ${rate}/s`)
}
for (const namespace of [small, undefined]) {
  const run = await sync<SmallPod>(client, { namespace, project: createProjection() })
  lookupsPerSecond(run.cache)
  const rate = Math.round(lookupsPerSecond(run.cache))
  console.log(`look-ups of 20 pods among ${run.cache.size} by their owner: ${rate}/s`)
  await run.stop()
}
await client.close()
