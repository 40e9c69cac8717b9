// SPDX-License-Identifier: Apache-2.0

// `npm run bench -- update [--replicas=10] [--rounds=3]`: a rolling update of a set of two-pod replicas on a real
// control plane with admission, one pod at a time. The floor is a bare loop that deletes a pod, creates another and
// waits until it is ready, pod after pod. Both are measured in one run.
import { parseArgs } from 'node:util'
import { label, type Pod } from '@grove/api'
import { type Client, createClient, type Stored, WatchCache } from '@grove/kube'
import { resources } from '@grove/operator'
import { startKubernetes, waitFor } from '@grove/test-kubernetes'
import { startOperatorProcess } from '@grove/test-scenarios'
import { pause, stopwatch } from './scale/stopwatch.ts'
import { replicated } from './scale/workloads.ts'

const nodes = 20
const startUpMs = 8_000
const timeoutMs = 120_000
const name = 'roll'

const { values } = parseArgs({
  args: process.argv.slice(2),
  options: { replicas: { type: 'string', default: '10' }, rounds: { type: 'string', default: '3' } },
})
const workload = replicated(Number(values.replicas), 2, name)

const kubernetes = await startKubernetes({ nodes })
const operator = await startOperatorProcess(kubernetes, { configuration: {} })
const client = connect()
const namespace = await kubernetes.newNamespace('update')
const stop = new AbortController()
const pods = new WatchCache<Pod>(client, resources.pods, { namespace })
void pods.run(stop.signal)
await pods.waitForSync()
await pause(startUpMs)

await client.create(resources.podCliqueSets, workload.set(namespace))
await waitFor('the set', async () => (await status())?.availableReplicas === workload.replicas, { timeoutMs })
const rolls: { seconds: number; fewestReady: number }[] = []
for (let round = 1; round <= Number(values.rounds); round++)
  rolls.push(await roll(`registry.example/main:r${round}`))
const least = await floor()
console.log(JSON.stringify({ workload: workload.title, nodes, rolls, floorSeconds: least }))
console.log(`\nRolling update of ${workload.title} on ${nodes} nodes, one pod at a time`)
for (const { seconds, fewestReady } of rolls)
  console.log(
    `  ${seconds.toFixed(2)} s (${(seconds / least).toFixed(2)} of the floor), never fewer than ${fewestReady} of ${workload.pods} pods ready`,
  )
console.log(`  floor ${least.toFixed(2)} s`)
operator.kill()
stop.abort()
await client.close()
await kubernetes.stop()
process.exit(0)

async function roll(image: string) {
  const set = await client.get(resources.podCliqueSets, { name, namespace })
  const cliques = structuredClone(set.spec.template.cliques)
  for (const { spec } of cliques) spec.podSpec.containers[0]!.image = image
  let fewestReady = workload.pods
  const unsubscribe = pods.onChange(() => {
    fewestReady = Math.min(fewestReady, live().filter(isReady).length)
  })
  const seconds = stopwatch()
  const changed = await client.patch(
    resources.podCliqueSets,
    { name, namespace },
    { merge: { spec: { template: { cliques } } } },
  )
  await waitFor(
    'the end of the update',
    async () => {
      const now = await status()
      return (
        now?.observedGeneration === changed.metadata.generation &&
        now?.updateProgress?.updateEndedAt !== undefined &&
        now.updatedReplicas === workload.replicas
      )
    },
    { timeoutMs },
  )
  const took = seconds()
  unsubscribe()
  return { seconds: took, fewestReady }
}

/** The time of the cluster alone: for every pod, the loop deletes one, creates one, and waits until it is ready. */
async function floor(): Promise<number> {
  const bare = await kubernetes.newNamespace('floor')
  const cache = new WatchCache<Pod>(client, resources.pods, { namespace: bare })
  void cache.run(stop.signal)
  await cache.waitForSync()
  const readiness = new Map<string, () => void>()
  cache.onChange(({ new: pod }) => {
    if (pod && isReady(pod)) readiness.get(pod.metadata.name)?.()
  })
  const make = async (pod: string) => {
    const ready = Promise.withResolvers<void>()
    readiness.set(pod, ready.resolve)
    await client.create(resources.pods, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: pod, namespace: bare },
      spec: { containers: [{ name: 'main', image: 'registry.example/main:1' }] },
    })
    await ready.promise
  }
  const indexes = Array.from({ length: workload.pods }, (_, at) => at)
  await Promise.all(indexes.map(at => make(`old-${at}`)))
  const seconds = stopwatch()
  for (const at of indexes) {
    await client.delete(resources.pods, { name: `old-${at}`, namespace: bare })
    await make(`new-${at}`)
  }
  return seconds()
}

async function status() {
  return (await client.get(resources.podCliqueSets, { name, namespace })).status
}

function live(): Stored<Pod>[] {
  return pods
    .list()
    .filter(pod => pod.metadata.labels?.[label.partOf] === name && !pod.metadata.deletionTimestamp)
}

function isReady(pod: Pod): boolean {
  return (pod.status?.conditions ?? []).some(one => one.type === 'Ready' && one.status === 'True')
}

function connect(): Client {
  const { server, ca, admin } = kubernetes
  return createClient(
    { server, namespace: 'default', tls: () => ({ ca, certificate: admin.cert, key: admin.key }) },
    { userAgent: 'grove-bench' },
  )
}
