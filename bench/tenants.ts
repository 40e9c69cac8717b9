// SPDX-License-Identifier: Apache-2.0

// `npm run bench -- tenants [--tenants=50] [--rounds=2] [--profile=DIRECTORY]`: one operator on a real control plane.
// Every tenant creates a set. The benchmark measures the time until the set is available, in turns
// - alone,
// - with a tenant that sends the requests of a hostile tenant for kinds that the operator does not serve: the share of the
//   control plane, which has the same two processors,
// - with the hostile tenant itself.
// It reports which step of the slow sets was late. --profile writes a CPU profile of the operator.
import { parseArgs } from 'node:util'
import type { PodCliqueSet } from '@grove/api'
import { createClient } from '@grove/kube'
import { resources } from '@grove/operator'
import { gatedStages, readyAnnotation, startKubernetes, waitFor } from '@grove/test-kubernetes'
import { startOperatorProcess } from '@grove/test-scenarios'
import { operatorLoad } from './operator-load.ts'
import { countBusyProcessors, countProcessorTime, untilIdle } from './scale/processor-time.ts'
import { pause, stopwatch } from './scale/stopwatch.ts'
import { type Figures, print, printKind, type Round } from './tenants/figures.ts'
import { HostileTenant } from './tenants/hostile-tenant.ts'
import { copiedKinds, type HostileKinds, ownKinds } from './tenants/kinds.ts'
import { Steps } from './tenants/steps.ts'

const nodes = 60
const startUpMs = 8_000
/** The pause between two tenants: a burst would measure the control plane instead of the operator. */
const everyMs = 400
const timeoutMs = 300_000
const podsPerSet = 4
/**
 * The control plane needs minutes to clean up after the hostile tenant, with few requests: they hardly disturb a
 * round.
 */
const cleanUpMs = 20_000

const { values } = parseArgs({
  args: process.argv.slice(2),
  options: {
    tenants: { type: 'string', default: '50' },
    rounds: { type: 'string', default: '2' },
    profile: { type: 'string' },
  },
})
const count = Number(values.tenants)

const kubernetes = await startKubernetes({ nodes, stages: gatedStages })
const operator = await startOperatorProcess(kubernetes, {
  nodeFlags: values.profile ? ['--cpu-prof', `--cpu-prof-dir=${values.profile}`] : [],
})
const client = connect()
const hostileClient = connect()
const observed = await new Steps(podsPerSet).start(client)
operator.child.once('exit', async code => {
  console.error(`the operator ended with ${code}:\n${operator.output.slice(-4_000)}`)
  await kubernetes.stop()
  process.exit(1)
})
const namespaces: string[] = []
for (let tenant = 0; tenant < count; tenant++) namespaces.push(await kubernetes.newNamespace('tenant'))
const copies = await copiedKinds(kubernetes, hostileClient)
const own = ownKinds(hostileClient)
await pause(startUpMs)
await round()

const figures: Figures = { alone: [], 'control plane': [], hostile: [] }
for (let each = 1; each <= Number(values.rounds); each++)
  for (const [kind, kinds] of [
    ['alone', undefined],
    ['control plane', copies],
    ['hostile', own],
  ] as const) {
    figures[kind].push(await round(kinds))
    console.log(`\nround ${each}`)
    printKind({ ...figures, [kind]: figures[kind].slice(-1) }, kind)
  }
const memory = operator.residentMiB()
console.log(JSON.stringify({ tenants: count, nodes, figures, memory }))
print(figures, count)
console.log(`operator ${memory.now} MiB, at most ${memory.peak}`)
operator.child.removeAllListeners('exit')
if (values.profile) {
  operator.child.kill('SIGTERM')
  await new Promise(done => operator.child.once('exit', done))
} else operator.kill()
observed.stop()
await Promise.all([client.close(), hostileClient.close()])
await kubernetes.stop()
process.exit(0)

function connect() {
  const { server, ca, admin } = kubernetes
  return createClient({
    server,
    namespace: 'default',
    tls: () => ({ ca, certificate: admin.cert, key: admin.key }),
  })
}

/** Every tenant creates its set, while a tenant of these kinds is hostile. */
async function round(kinds?: HostileKinds): Promise<Round> {
  await untilIdle(kubernetes, client, cleanUpMs)
  const used = countProcessorTime(kubernetes)
  const busy = countBusyProcessors()
  const seconds = stopwatch()
  const load = await operatorLoad(operator)
  const hostile = kinds && (await new HostileTenant(kubernetes, hostileClient, kinds).start())
  for (const namespace of namespaces) {
    observed.begin(namespace)
    await client.create(resources.podCliqueSets, ordinarySet(namespace))
    observed.admitted(namespace)
    await pause(everyMs)
  }
  await waitFor('the sets of all tenants', () => observed.complete === count, { timeoutMs })
  const result: Round = {
    traces: observed.take(),
    seconds: seconds(),
    busyProcessors: busy(),
    processorTime: used(),
    operator: await load(),
    hostile: await hostile?.stop(),
  }
  for (const namespace of namespaces) await client.delete(resources.podCliqueSets, { namespace, name: 'app' })
  await waitFor(
    'the pods of all tenants to be deleted',
    async () =>
      (await client.list(resources.pods)).items.every(
        ({ metadata }) => !namespaces.includes(metadata.namespace ?? ''),
      ),
    { timeoutMs, intervalMs: 500 },
  )
  return result
}

function ordinarySet(namespace: string): PodCliqueSet {
  const clique = (name: string) => ({
    name,
    annotations: { [readyAnnotation]: 'true' },
    spec: {
      roleName: name,
      replicas: podsPerSet / 2,
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
