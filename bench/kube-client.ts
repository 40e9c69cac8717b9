// SPDX-License-Identifier: Apache-2.0

// Creates 1,000 pods on a real API server with several clients and compares them: our client, a plain undici loop,
// kubectl with one file, and for the CPU plain sockets. The clients take turns, and each round starts with another one.
// Other load on the machine and garbage of the previous client affect all of them alike. The result is the best time
// and the median CPU time. Connections are kept between runs, as in a long-running program. npm run bench --
// kube-client [--pods=1000] [--rounds=3]
import { parseArgs } from 'node:util'
import { loadKubeconfig } from '@grove/kube'
import { type Kubernetes, startKubernetes } from '@grove/test-kubernetes'
import { bareLoop } from './kube/bare-loop.ts'
import { podOf } from './kube/pods.ts'
import { client, median, plainLoop, type Way } from './kube/ways.ts'

const { values } = parseArgs({
  options: { pods: { type: 'string', default: '1000' }, rounds: { type: 'string', default: '3' } },
})
const count = Number(values.pods)
const rounds = Number(values.rounds)

interface Run {
  readonly seconds: number
  /** Milliseconds of this process, TLS included. */
  readonly cpuPerRequest: number
}

function kubectl(cluster: Kubernetes): Way {
  return {
    name: 'kubectl create -f, one file',
    async create(wanted) {
      const input = wanted.map(pod => JSON.stringify(pod)).join('\n---\n')
      const { code, stderr } = await cluster.kubectl('create', '-f', '-', { input })
      if (code !== 0) throw new Error(stderr)
    },
  }
}

/** The pods are kept: deleting them takes longer than creating them, and every client has the same store. */
async function measure(cluster: Kubernetes, { create }: Way): Promise<Run> {
  const namespace = await cluster.newNamespace('bench')
  const wanted = Array.from({ length: count }, (_, i) => podOf(namespace, i))
  const cpu = process.cpuUsage()
  const startedAt = performance.now()
  await create(wanted)
  const seconds = (performance.now() - startedAt) / 1000
  const { user, system } = process.cpuUsage(cpu)
  return { seconds, cpuPerRequest: (user + system) / 1000 / count }
}

await using cluster = await startKubernetes({ controllers: false, scheduler: false, kwok: false })
const config = loadKubeconfig({ path: cluster.kubeconfig })
const ways = [
  ...[16, 32, 64].flatMap(n => [plainLoop(config, n), client(config, n)]),
  client(config, 64, { managedFields: true }),
  client(config, 32, { http2: true }),
  bareLoop(config, 64),
]
const kubectlWay = kubectl(cluster)

const runs = new Map<string, Run[]>()
// The first round warms up connections and compiled code and does not count.
for (let round = 0; round <= rounds; round++)
  for (const way of round === 1 ? [...movedOn(ways, round), kubectlWay] : movedOn(ways, round)) {
    const run = await measure(cluster, way)
    if (round > 0) runs.set(way.name, [...(runs.get(way.name) ?? []), run])
  }
for (const { close } of ways) await close?.()

/** Returns the same list with another start. */
function movedOn<T>(list: readonly T[], by: number): T[] {
  const start = by % list.length
  return [...list.slice(start), ...list.slice(0, start)]
}

const bestOf = (some: readonly Run[]) => some.reduce((a, b) => (a.seconds < b.seconds ? a : b))
const best = (prefix: string) =>
  bestOf([...runs].filter(([name]) => name.startsWith(prefix)).flatMap(([, some]) => some)).seconds
const table = [...runs].map(([name, some]) => {
  const { seconds } = bestOf(some)
  const cpu = some.map(({ cpuPerRequest }) => cpuPerRequest)
  return [
    name,
    {
      'best s': Number(seconds.toFixed(2)),
      'all s': some.map(each => each.seconds.toFixed(2)).join(' '),
      'pods/s': Math.round(count / seconds),
      'CPU ms/request': name.startsWith('kubectl') ? '' : Number(median(cpu).toFixed(3)),
      'least to most': name.startsWith('kubectl')
        ? ''
        : `${Math.min(...cpu).toFixed(3)} ${Math.max(...cpu).toFixed(3)}`,
    },
  ]
})
const bytes = JSON.stringify(podOf('bench-xxxxx', 0)).length
console.log(`\n${count} pods of ${bytes} bytes, Kubernetes ${cluster.version}`)
console.table(Object.fromEntries(table))
const ratio = best('client') / Math.min(best('plain'), best('kubectl'))
console.log(`time of the client / time of the best of the others: ${ratio.toFixed(3)}`)
