// SPDX-License-Identifier: Apache-2.0

// `npm run bench -- updates [sets] [groups] [--small=50] [--large=500] [--profile=DIRECTORY]`: rolling updates of
// two-pod replicas on a real control plane with admission on, one replica at a time: replicas of a set, or of one
// scaling group. Reports time, CPU and requests of the operator per replica, and the ratio of many replicas to few.
// The ratio is 1 where a step does not depend on the number of replicas. The control plane has more work for a step
// in a fuller cluster, so few replicas are also updated next to an idle set that makes the cluster as full as many
// do. --profile writes a CPU profile of the operator.
import { parseArgs } from 'node:util'
import { createClient } from '@grove/kube'
import { resources } from '@grove/operator'
import { startKubernetes, waitFor } from '@grove/test-kubernetes'
import { startOperatorProcess } from '@grove/test-scenarios'
import { operatorLoad } from './operator-load.ts'
import { pause, stopwatch } from './scale/stopwatch.ts'
import { replicated, replicatedGroup, type Workload } from './scale/workloads.ts'

const nodes = 100
/** The controllers of a control plane need some seconds until all of them run. */
const startMs = 8_000
/** A new set writes the last statuses some time after its pods are ready. */
const quietMs = 10_000
const timeoutMs = 600_000
/** Number of kinds of requests in the text; the JSON has all. */
const mostRequests = 12

const { values, positionals } = parseArgs({
  args: process.argv.slice(2),
  allowPositionals: true,
  options: {
    small: { type: 'string', default: '50' },
    large: { type: 'string', default: '500' },
    profile: { type: 'string' },
  },
})

const kubernetes = await startKubernetes({ nodes })
const operator = await startOperatorProcess(kubernetes, {
  configuration: {},
  nodeFlags: values.profile ? ['--cpu-prof', `--cpu-prof-dir=${values.profile}`] : [],
})
const { server, ca, admin } = kubernetes
const client = createClient(
  { server, namespace: 'default', tls: () => ({ ca, certificate: admin.cert, key: admin.key }) },
  { userAgent: 'grove-bench' },
)
await pause(startMs)

const shapes: Readonly<Record<string, typeof replicated>> = { sets: replicated, groups: replicatedGroup }
for (const name of positionals.length ? positionals : ['sets']) {
  const shape = shapes[name]
  if (!shape) throw new Error(`there is no part ${name}: ${Object.keys(shapes).join(', ')}`)
  const [few, many] = [Number(values.small), Number(values.large)]
  const small = await updateOf(shape, few, name)
  const idle = await createSet(shape, many - few, `${name}-idle`)
  const crowded = await updateOf(shape, few, `${name}-crowded`)
  await client.delete(resources.podCliqueSets, idle)
  const large = await updateOf(shape, many, name)
  console.log(JSON.stringify({ nodes, of: name, small, crowded, large }))
  console.log(`\nRolling updates of ${name} on ${nodes} nodes, one replica of two pods at a time`)
  print(`${few} replicas`, small)
  print(`${few} replicas next to ${many - few} idle ones`, crowded)
  print(`${many} replicas`, large)
  for (const [than, other] of [
    [`${few} alone`, small],
    [`${few} next to idle ones`, crowded],
  ] as const)
    console.log(
      `  ${many} replicas to ${than}: per replica ` +
        `${(large.secondsPerReplica / other.secondsPerReplica).toFixed(2)} times as long, ` +
        `${(large.cpuPerReplica / other.cpuPerReplica).toFixed(2)} times the CPU`,
    )
}
if (values.profile) {
  operator.child.kill('SIGTERM')
  await new Promise(done => operator.child.once('exit', done))
} else operator.kill()
await client.close()
await kubernetes.stop()
process.exit(0)

type Update = Awaited<ReturnType<typeof updateOf>>

function print(title: string, { replicas, seconds, cpuSeconds, requestsBy, ...perReplica }: Update): void {
  console.log(
    `  ${title}: ${seconds.toFixed(1)} s, ${cpuSeconds.toFixed(1)} s CPU; ` +
      `per replica ${(1000 * perReplica.secondsPerReplica).toFixed(0)} ms, ` +
      `${(1000 * perReplica.cpuPerReplica).toFixed(0)} ms CPU, ${perReplica.requestsPerReplica.toFixed(1)} requests`,
  )
  const most = Object.entries(requestsBy).slice(0, mostRequests)
  console.log(
    `    per replica: ${most.map(([of, count]) => `${(count / replicas).toFixed(1)} ${of}`).join(', ')}`,
  )
}

/** Creates a set and waits until it is available and its statuses are written. */
async function createSet(shape: typeof replicated, replicas: number, part: string) {
  const name = `${part}-${replicas}`
  const workload: Workload = shape(replicas, 2, name)
  const namespace = await kubernetes.newNamespace(name)
  const ref = { name, namespace }
  await client.create(resources.podCliqueSets, workload.set(namespace))
  await waitFor('the set', async () => (await statusOf(ref))?.availableReplicas === workload.replicas, {
    timeoutMs,
  })
  await waitFor('all cliques', async () => (await readyCliques(namespace)) === replicas, { timeoutMs })
  await pause(quietMs)
  return { ...ref, wanted: workload.replicas }
}

async function statusOf(ref: { readonly name: string; readonly namespace: string }) {
  return (await client.get(resources.podCliqueSets, ref)).status
}

async function updateOf(shape: typeof replicated, replicas: number, part: string) {
  const { wanted, ...ref } = await createSet(shape, replicas, part)
  const { spec } = await client.get(resources.podCliqueSets, ref)
  const cliques = structuredClone(spec.template.cliques)
  for (const clique of cliques) clique.spec.podSpec.containers[0]!.image = 'registry.example/main:next'
  const load = await operatorLoad(operator)
  const elapsed = stopwatch()
  await client.patch(resources.podCliqueSets, ref, { merge: { spec: { template: { cliques } } } })
  const hasEnded = async () => {
    const status = await statusOf(ref)
    return status?.updateProgress?.updateEndedAt !== undefined && status.updatedReplicas === wanted
  }
  await waitFor('the end of the update', hasEnded, { timeoutMs })
  const seconds = elapsed()
  const { cpuSeconds, requests, requestsBy } = await load()
  await client.delete(resources.podCliqueSets, ref)
  return {
    replicas,
    seconds,
    cpuSeconds,
    secondsPerReplica: seconds / replicas,
    cpuPerReplica: cpuSeconds / replicas,
    requestsPerReplica: requests / replicas,
    requestsBy,
  }
}

async function readyCliques(namespace: string): Promise<number> {
  const { items } = await client.list(resources.podCliques, { namespace })
  return items.filter(({ spec, status }) => (status?.readyReplicas ?? 0) >= spec.replicas).length
}
