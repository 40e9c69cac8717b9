// SPDX-License-Identifier: Apache-2.0

// `npm run bench -- tenants [--tenants=50] [--rounds=2]`: one operator on a real control plane. Every tenant creates a
// set. The benchmark measures the time until the set is available, with and without a hostile tenant, in turns.
import { parseArgs } from 'node:util'
import type { PodCliqueSet } from '@grove/api'
import { createClient, WatchCache } from '@grove/kube'
import { resources } from '@grove/operator'
import { gatedStages, readyAnnotation, startKubernetes, waitFor } from '@grove/test-kubernetes'
import { startOperatorProcess } from '@grove/test-scenarios'
import { pause } from './scale/stopwatch.ts'
import { HostileTenant } from './tenants/hostile-tenant.ts'

const nodes = 60
const startUpMs = 8_000
/** The pause between two tenants: a burst would measure the control plane instead of the operator. */
const everyMs = 400
const timeoutMs = 300_000

const { values } = parseArgs({
  args: process.argv.slice(2),
  options: { tenants: { type: 'string', default: '50' }, rounds: { type: 'string', default: '2' } },
})
const count = Number(values.tenants)

const kubernetes = await startKubernetes({ nodes, stages: gatedStages })
const operator = await startOperatorProcess(kubernetes)
const { server, ca, admin } = kubernetes
const client = createClient({
  server,
  namespace: 'default',
  tls: () => ({ ca, certificate: admin.cert, key: admin.key }),
})
const stop = new AbortController()
const sets = new WatchCache<PodCliqueSet>(client, resources.podCliqueSets, {})
void sets.run(stop.signal)
await sets.waitForSync()
operator.child.once('exit', async code => {
  console.error(`the operator ended with ${code}:\n${operator.output.slice(-4_000)}`)
  await kubernetes.stop()
  process.exit(1)
})
const namespaces: string[] = []
for (let tenant = 0; tenant < count; tenant++) namespaces.push(await kubernetes.newNamespace('tenant'))
await pause(startUpMs)
await round()

const quiet: number[] = []
const disturbedTimes: number[] = []
for (let each = 1; each <= Number(values.rounds); each++) {
  quiet.push(...(await round()))
  const hostile = await new HostileTenant(kubernetes, client).start()
  disturbedTimes.push(...(await round()))
  console.log(`hostile tenant: ${JSON.stringify(await hostile.stop())}`)
}
const memory = operator.residentMiB()
console.log(JSON.stringify({ tenants: count, nodes, quiet, disturbedTimes, memory }))
console.log(`\n${count} tenants' sets until available, seconds`)
const ratios: string[] = []
for (const [name, share] of [
  ['median', 0.5],
  ['p95', 0.95],
] as const) {
  const [alone, disturbed] = [at(quiet, share), at(disturbedTimes, share)]
  const ratio = (disturbed / alone).toFixed(2)
  ratios.push(`${name} ${ratio}`)
  console.log(
    `  ${name.padEnd(7)} alone ${alone.toFixed(2)}, with the hostile tenant ${disturbed.toFixed(2)}: ${ratio}`,
  )
}
console.log(
  `ratio ${ratios.join(', ')} (aim: at most 1.5); operator ${memory.now} MiB, at most ${memory.peak}`,
)
operator.child.removeAllListeners('exit')
operator.kill()
stop.abort()
await client.close()
await kubernetes.stop()
process.exit(0)

/** Every tenant creates its set. Returns the seconds until each was available. */
async function round(): Promise<number[]> {
  const started = new Map<string, number>()
  const seconds = new Map<string, number>()
  const unsubscribe = sets.onChange(() => {
    for (const [namespace, since] of started) {
      const set = sets.get({ namespace, name: 'app' })
      if (!seconds.has(namespace) && (set?.status?.availableReplicas ?? 0) === 1)
        seconds.set(namespace, (performance.now() - since) / 1000)
    }
  })
  for (const namespace of namespaces) {
    started.set(namespace, performance.now())
    await client.create(resources.podCliqueSets, ordinarySet(namespace))
    await pause(everyMs)
  }
  await waitFor('the sets of all tenants', () => seconds.size === count, { timeoutMs })
  unsubscribe()
  for (const namespace of namespaces) await client.delete(resources.podCliqueSets, { namespace, name: 'app' })
  await waitFor(
    'the pods of all tenants to be deleted',
    async () =>
      (await client.list(resources.pods)).items.every(
        ({ metadata }) => !namespaces.includes(metadata.namespace ?? ''),
      ),
    { timeoutMs, intervalMs: 500 },
  )
  return [...seconds.values()]
}

function ordinarySet(namespace: string): PodCliqueSet {
  const clique = (name: string) => ({
    name,
    annotations: { [readyAnnotation]: 'true' },
    spec: {
      roleName: name,
      replicas: 2,
      podSpec: { containers: [{ name: 'main', image: 'registry.example/main:1' }] },
    },
  })
  return {
    apiVersion: 'grove.io/v1alpha1',
    kind: 'PodCliqueSet',
    metadata: { name: 'app', namespace },
    spec: { replicas: 1, template: { cliques: [clique('lead'), clique('work')] } },
  }
}

function at(times: readonly number[], share: number): number {
  const sorted = times.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}
