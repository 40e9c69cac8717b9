// SPDX-License-Identifier: Apache-2.0

// `npm run bench -- updates [--small=50] [--large=500]`: rolling updates of two sets of two-pod replicas on a real control
// plane with admission on, one replica at a time. Reports time and CPU of the operator per replica, and the ratio of the
// large set to the small one. The ratio is 1 where a step does not depend on the number of replicas.
import { parseArgs } from 'node:util'
import { createClient } from '@grove/kube'
import { resources } from '@grove/operator'
import { startKubernetes, waitFor } from '@grove/test-kubernetes'
import { startOperatorProcess } from '@grove/test-scenarios'
import { pause, stopwatch } from './scale/stopwatch.ts'
import { replicated } from './scale/workloads.ts'

const nodes = 100
/** The controllers of a control plane need some seconds until all of them run. */
const startMs = 8_000
/** A new set writes the last statuses some time after its pods are ready. */
const quietMs = 10_000
const timeoutMs = 600_000

const { values } = parseArgs({
  args: process.argv.slice(2),
  options: { small: { type: 'string', default: '50' }, large: { type: 'string', default: '500' } },
})

const kubernetes = await startKubernetes({ nodes })
const operator = await startOperatorProcess(kubernetes, { configuration: {} })
const { server, ca, admin } = kubernetes
const client = createClient(
  { server, namespace: 'default', tls: () => ({ ca, certificate: admin.cert, key: admin.key }) },
  { userAgent: 'grove-bench' },
)
await pause(startMs)

const small = await updateOf(Number(values.small))
const large = await updateOf(Number(values.large))
const timeRatio = large.secondsPerReplica / small.secondsPerReplica
const cpuRatio = large.cpuPerReplica / small.cpuPerReplica
console.log(JSON.stringify({ nodes, small, large, timeRatio, cpuRatio }))
console.log(`\nRolling updates on ${nodes} nodes, one replica of two pods at a time`)
for (const { replicas, seconds, cpuSeconds, secondsPerReplica, cpuPerReplica } of [small, large])
  console.log(
    `  ${replicas} replicas: ${seconds.toFixed(1)} s, ${cpuSeconds.toFixed(1)} s CPU; ` +
      `per replica ${(1000 * secondsPerReplica).toFixed(0)} ms, ${(1000 * cpuPerReplica).toFixed(0)} ms CPU`,
  )
console.log(`  per replica ${timeRatio.toFixed(2)} times as long, ${cpuRatio.toFixed(2)} times the CPU`)
operator.kill()
await client.close()
await kubernetes.stop()
process.exit(0)

async function updateOf(replicas: number) {
  const name = `roll-${replicas}`
  const namespace = await kubernetes.newNamespace(name)
  const ref = { name, namespace }
  const read = async () => (await client.get(resources.podCliqueSets, ref)).status
  await client.create(resources.podCliqueSets, replicated(replicas, 2, name).set(namespace))
  await waitFor('the set', async () => (await read())?.availableReplicas === replicas, { timeoutMs })
  await pause(quietMs)
  const { spec } = await client.get(resources.podCliqueSets, ref)
  const cliques = structuredClone(spec.template.cliques)
  for (const clique of cliques) clique.spec.podSpec.containers[0]!.image = 'registry.example/main:next'
  const cpu = operator.cpuSeconds()
  const elapsed = stopwatch()
  await client.patch(resources.podCliqueSets, ref, { merge: { spec: { template: { cliques } } } })
  const hasEnded = async () => {
    const status = await read()
    return status?.updateProgress?.updateEndedAt !== undefined && status.updatedReplicas === replicas
  }
  await waitFor('the end of the update', hasEnded, { timeoutMs })
  const seconds = elapsed()
  const cpuSeconds = operator.cpuSeconds() - cpu
  await client.delete(resources.podCliqueSets, ref)
  return {
    replicas,
    seconds,
    cpuSeconds,
    secondsPerReplica: seconds / replicas,
    cpuPerReplica: cpuSeconds / replicas,
  }
}
