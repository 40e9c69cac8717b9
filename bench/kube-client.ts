// SPDX-License-Identifier: Apache-2.0

// Creates 1,000 pods on a real API server in every way we know and prints how they compare: our client, a plain undici
// loop, kubectl with one file. Each way runs several times, taking turns, so that what the machine does meanwhile hits
// all of them; the best run of each counts.
//   node bench/kube-client.ts [--pods=1000] [--rounds=3]
import { parseArgs } from 'node:util'
import { type ClusterConfig, createClient, loadKubeconfig, type TlsMaterial } from '@grove/kube'
import { type Kubernetes, startKubernetes } from '@grove/test-kubernetes'
import { Pool } from 'undici'
import { podOf, pods } from './kube-pods.ts'

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

type Way = (namespace: string) => Promise<void>

function clientWay(config: ClusterConfig, maxInFlight: number, http2 = false): Way {
  return async namespace => {
    const client = createClient(config, { maxInFlight, http2, userAgent: 'bench/1' })
    await Promise.all(Array.from({ length: count }, (_, i) => client.create(pods, podOf(namespace, i))))
    await client.close()
  }
}

/** What anybody would write who wants nothing but speed. */
function plainWay(config: ClusterConfig, concurrency: number): Way {
  return async namespace => {
    const { ca, certificate, key } = config.tls() as TlsMaterial
    const pool = new Pool(config.server, {
      connections: concurrency,
      allowH2: false,
      connect: { ca, cert: certificate, key },
    })
    let next = 0
    const worker = async () => {
      while (next < count) {
        const body = JSON.stringify(podOf(namespace, next++))
        const answer = await pool.request({
          method: 'POST',
          path: `/api/v1/namespaces/${namespace}/pods`,
          headers: { 'content-type': 'application/json' },
          body,
        })
        const text = await answer.body.text()
        if (answer.statusCode !== 201) throw new Error(text)
        JSON.parse(text)
      }
    }
    await Promise.all(Array.from({ length: concurrency }, worker))
    await pool.close()
  }
}

function kubectlWay(cluster: Kubernetes): Way {
  return async namespace => {
    const input = Array.from({ length: count }, (_, i) => JSON.stringify(podOf(namespace, i))).join('\n---\n')
    const { code, stderr } = await cluster.kubectl('create', '-f', '-', { input })
    if (code !== 0) throw new Error(stderr)
  }
}

async function measure(cluster: Kubernetes, config: ClusterConfig, way: Way): Promise<Run> {
  const namespace = await cluster.newNamespace('bench')
  const cpu = process.cpuUsage()
  const startedAt = performance.now()
  await way(namespace)
  const seconds = (performance.now() - startedAt) / 1000
  const { user, system } = process.cpuUsage(cpu)
  const client = createClient(config)
  const { items } = await client.list(pods, { namespace })
  if (items.length !== count) throw new Error(`${items.length} pods instead of ${count}`)
  await client.deleteCollection(pods, { namespace, gracePeriodSeconds: 0 })
  await client.close()
  return { seconds, cpuPerRequest: (user + system) / 1000 / count }
}

await using cluster = await startKubernetes({ controllers: false, scheduler: false, kwok: false })
const config = loadKubeconfig({ path: cluster.kubeconfig })
const ways: [name: string, way: Way, rounds: number][] = [
  ...[8, 16, 32, 64, 128].map(n => [`plain undici, ${n} at once`, plainWay(config, n), rounds] as const),
  ...[8, 16, 32, 64, 128].map(n => [`client, ${n} in flight`, clientWay(config, n), rounds] as const),
  ...[16, 64].map(n => [`client, HTTP/2, ${n} in flight`, clientWay(config, n, true), rounds] as const),
  ['kubectl create -f, one file', kubectlWay(cluster), 1],
].map(([name, way, times]) => [name, way, times] as [string, Way, number])

await measure(cluster, config, clientWay(config, 32))
const best = new Map<string, Run>()
const all = new Map<string, number[]>()
for (let round = 0; round < rounds; round++)
  for (const [name, way, times] of ways) {
    if (round >= times) continue
    const run = await measure(cluster, config, way)
    all.set(name, [...(all.get(name) ?? []), run.seconds])
    if (run.seconds < (best.get(name)?.seconds ?? Number.POSITIVE_INFINITY)) best.set(name, run)
  }

console.log(
  `\n${count} pods of ${JSON.stringify(podOf('bench-xxxxx', 0)).length} bytes, Kubernetes ${cluster.version}`,
)
console.table(
  Object.fromEntries(
    [...best].map(([name, { seconds, cpuPerRequest }]) => [
      name,
      {
        'best s': Number(seconds.toFixed(2)),
        'all s': all
          .get(name)!
          .map(each => each.toFixed(2))
          .join(' '),
        'pods/s': Math.round(count / seconds),
        'CPU ms/request': name.startsWith('kubectl') ? '' : Number(cpuPerRequest.toFixed(3)),
      },
    ]),
  ),
)
const bestOf = (prefix: string) =>
  Math.min(...[...best].filter(([name]) => name.startsWith(prefix)).map(([, { seconds }]) => seconds))
const ceiling = Math.min(bestOf('plain'), bestOf('kubectl'))
console.log(`client / best of the others: ${(bestOf('client') / ceiling).toFixed(3)}`)
