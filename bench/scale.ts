// SPDX-License-Identifier: Apache-2.0

// `npm run bench -- scale [replicas]`: a set of many replicas on a real control plane, beside the floor: a bare loop that
// writes what any operator must write. Both in one run, so that the ratio means something on any machine.
import {
  customResourceDefinitions,
  defaultConfiguration,
  type Pod,
  type PodClique,
  type PodCliqueSet,
  type PodGang,
  podSchedulingGate,
  type Service,
} from '@grove/api'
import { type Client, createClient } from '@grove/kube'
import { resources, startOperator } from '@grove/operator'
import { type Kubernetes, startKubernetes, waitFor } from '@grove/test-kubernetes'

const replicas = Number(process.argv[2] ?? 500)
const nodes = 100
const timeoutMs = 600_000
/** The controllers of a control plane need some seconds until all of them run. */
const settleMs = 8_000
const steadyMs = 10_000
const tinyRounds = 10
const requestsAtOnce = 64

const kubernetes = await startKubernetes({ nodes })
await kubernetes.apply(customResourceDefinitions as never)
await pause(settleMs)

const floor = await measureFloor(kubernetes)
const ours = await measureOperator(kubernetes)
await kubernetes.stop()

const rows: [string, number | undefined, number][] = [
  ['pods created', floor.created, ours.created],
  ['pods ready', floor.ready, ours.ready],
  ['set available', undefined, ours.available],
  ['everything gone', floor.gone, ours.gone],
]
console.log(JSON.stringify({ replicas, pods: 2 * replicas, nodes, floor, operator: ours }))
console.log(`\n${replicas} replicas of 2 pods on ${nodes} nodes, seconds:`)
for (const [what, least, measured] of rows)
  console.log(
    `  ${what.padEnd(18)}${measured.toFixed(1).padStart(8)}${least === undefined ? '' : `   floor ${least.toFixed(1)}, ratio ${(measured / least).toFixed(2)}`}`,
  )
console.log(`  operator CPU ${ours.cpuSeconds.toFixed(1)} s, ${ours.residentMiB} MiB, ${ours.writes} writes`)
console.log(
  `  steady state over ${steadyMs / 1000} s with a trigger: ${ours.steadyWrites} writes, ${ours.steadyCpuSeconds.toFixed(2)} s CPU`,
)
console.log(
  `  a 10-pod set ready, ${tinyRounds} times: ${ours.tiny.map(seconds => seconds.toFixed(2)).join(' ')}`,
)
process.exit(0)

function connect(onWrite?: () => void): Client {
  const { server, ca, admin } = kubernetes
  return createClient(
    { server, namespace: 'default', tls: () => ({ ca, certificate: admin.certificate, key: admin.key }) },
    {
      userAgent: 'grove-bench',
      onRequest: ({ verb }) => {
        if (!['get', 'list', 'watch'].includes(verb)) onWrite?.()
      },
    },
  )
}

async function measureFloor(cluster: Kubernetes) {
  const namespace = await cluster.newNamespace('floor')
  const client = connect()
  const clock = stopwatch()
  const indexes = Array.from({ length: replicas }, (_, index) => index)
  const pods: string[] = []
  await inParallel(indexes, async index => {
    const name = `floor-${index}`
    await client.create(resources.services, {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name, namespace },
      spec: { clusterIP: 'None' },
    } as Service)
    await client.create(resources.podCliques, clique(name, namespace))
    for (const at of [0, 1]) {
      const pod = await client.create(resources.pods, gatedPod(`${name}-${at}`, namespace))
      pods.push(pod.metadata.name)
    }
    await client.create(resources.podGangs, gang(name, namespace))
  })
  const created = clock()
  await inParallel(pods, name =>
    client.patch(
      resources.pods,
      { name, namespace },
      { strategic: { spec: { schedulingGates: [{ name: podSchedulingGate, $patch: 'delete' }] } } },
    ),
  )
  await waitFor('the pods of the floor', async () => (await readyPods(client, namespace)) === 2 * replicas, {
    timeoutMs,
  } as never)
  const ready = clock()
  const removal = stopwatch()
  for (const resource of [resources.podCliques, resources.pods, resources.podGangs, resources.services])
    await client.deleteCollection(resource as typeof resources.pods, { namespace })
  await waitFor(
    'the floor to be gone',
    async () => (await client.list(resources.pods, { namespace })).items.length === 0,
    { timeoutMs } as never,
  )
  const gone = removal()
  await client.close()
  return { created, ready, gone }
}

async function measureOperator(cluster: Kubernetes) {
  const namespace = await cluster.newNamespace('scale')
  const client = connect()
  let writes = 0
  const operator = await startOperator(
    connect(() => writes++),
    { configuration: defaultConfiguration() },
  )
  const { world } = operator
  const cpu = process.cpuUsage()
  const clock = stopwatch()
  await client.create(resources.podCliqueSets, set('big', namespace, replicas, 2))
  const own = () => world.pods.list(namespace)
  await waitFor('pods', async () => own().length >= 2 * replicas, { timeoutMs } as never)
  const created = clock()
  await waitFor('ready pods', async () => own().filter(isReady).length >= 2 * replicas, {
    timeoutMs,
  } as never)
  const ready = clock()
  const status = () => world.sets.get({ name: 'big', namespace })?.status
  await waitFor('the set', async () => (status()?.availableReplicas ?? 0) >= replicas, { timeoutMs } as never)
  const available = clock()
  const used = process.cpuUsage(cpu)
  const residentMiB = Math.round(process.memoryUsage().rss / 2 ** 20)
  const deployWrites = writes

  await pause(2_000)
  const steadyCpu = process.cpuUsage()
  writes = 0
  await client.patch(
    resources.podCliqueSets,
    { name: 'big', namespace },
    { merge: { metadata: { annotations: { 'grove.io/reconcile-trigger': 'bench' } } } },
  )
  await pause(steadyMs)
  const steady = process.cpuUsage(steadyCpu)
  const steadyWrites = writes

  const removal = stopwatch()
  await client.delete(resources.podCliqueSets, { name: 'big', namespace })
  const left = () =>
    own().length +
    world.cliques.list(namespace).length +
    world.gangs.list(namespace).length +
    world.services.list(namespace).length
  await waitFor('nothing left', async () => left() === 0, { timeoutMs } as never)
  const gone = removal()

  const tiny: number[] = []
  for (let round = 0; round < tinyRounds; round++) {
    const name = `tiny-${round}`
    const tinyClock = stopwatch()
    await client.create(resources.podCliqueSets, set(name, namespace, 1, 10))
    await waitFor(
      name,
      async () => (world.sets.get({ name, namespace })?.status?.availableReplicas ?? 0) === 1,
      { timeoutMs } as never,
    )
    tiny.push(tinyClock())
    await client.delete(resources.podCliqueSets, { name, namespace })
  }
  await operator.stop()
  return {
    created,
    ready,
    available,
    gone,
    cpuSeconds: (used.user + used.system) / 1e6,
    residentMiB,
    writes: deployWrites,
    steadyWrites,
    steadyCpuSeconds: (steady.user + steady.system) / 1e6,
    tiny,
  }
}

function set(name: string, namespace: string, count: number, pods: number): PodCliqueSet {
  return {
    apiVersion: 'grove.io/v1alpha1',
    kind: 'PodCliqueSet',
    metadata: { name, namespace },
    spec: {
      replicas: count,
      template: {
        cliques: [
          { name: 'w', spec: { roleName: 'w', replicas: pods, minAvailable: pods, podSpec: podSpec() } },
        ],
      },
    },
  }
}

function clique(name: string, namespace: string): PodClique {
  return {
    apiVersion: 'grove.io/v1alpha1',
    kind: 'PodClique',
    metadata: { name, namespace },
    spec: { roleName: 'w', replicas: 2, podSpec: podSpec() },
  }
}

function gang(name: string, namespace: string): PodGang {
  const podReferences = [0, 1].map(at => ({ name: `${name}-${at}`, namespace }))
  return {
    apiVersion: 'scheduler.grove.io/v1alpha1',
    kind: 'PodGang',
    metadata: { name, namespace },
    spec: { podgroups: [{ name, podReferences, minReplicas: 2 }] },
  }
}

function gatedPod(name: string, namespace: string): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace },
    spec: { ...podSpec(), schedulingGates: [{ name: podSchedulingGate }] },
  }
}

function podSpec() {
  return { containers: [{ name: 'main', image: 'registry.example/main:1' }] }
}

function isReady(pod: Pod): boolean {
  return (pod.status?.conditions ?? []).some(({ type, status }) => type === 'Ready' && status === 'True')
}

async function readyPods(client: Client, namespace: string): Promise<number> {
  return (await client.list(resources.pods, { namespace })).items.filter(isReady).length
}

async function inParallel<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  let next = 0
  await Promise.all(
    Array.from({ length: requestsAtOnce }, async () => {
      for (let at = next++; at < items.length; at = next++) await work(items[at]!)
    }),
  )
}

function stopwatch(): () => number {
  const started = performance.now()
  return () => (performance.now() - started) / 1000
}

function pause(ms: number): Promise<void> {
  return new Promise(done => setTimeout(done, ms))
}
