// SPDX-License-Identifier: Apache-2.0

// `npm run bench -- schedulers [options]`: one set of many small gangs on a real control plane, scheduled by
// kube-scheduler behind scheduling gates and by grove-scheduler, which needs no gates. Both are measured in turns in
// one run.
//   --replicas=500   replicas of the set, two pods each
//   --repeats=2      lifecycles for each scheduler
//   --record         writes bench/results/schedulers.json
import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { type Client, createClient } from '@grove/kube'
import { resources } from '@grove/operator'
import { schedulerAccountName } from '@grove/scheduler'
import { freePorts, type Kubernetes, serviceAccount, startKubernetes, waitFor } from '@grove/test-kubernetes'
import { operatorNamespace, schedulerAccess, startOperatorProcess } from '@grove/test-scenarios'
import { Observer } from './scale/observer.ts'
import {
  countBusyProcessors,
  countProcessorTime,
  cpuSecondsOf,
  sumOf,
  untilIdle,
} from './scale/processor-time.ts'
import { countAllocated, countRequests } from './scale/server-work.ts'
import { pause, stopwatch } from './scale/stopwatch.ts'
import { replicated } from './scale/workloads.ts'

const nodes = 100
/** The controllers of a control plane need some seconds until all of them run. */
const startUpMs = 8_000
const profiles = ['default-scheduler', 'grove-scheduler'] as const

const { values } = parseArgs({
  options: {
    replicas: { type: 'string', default: '500' },
    repeats: { type: 'string', default: '2' },
    record: { type: 'boolean', default: false },
  },
})

type Profile = (typeof profiles)[number]

interface Run {
  readonly createdSeconds: number
  readonly readySeconds: number
  /** Until the statuses of all gangs and of the set say so. */
  readonly reportedSeconds: number
  readonly goneSeconds: number
  readonly cpuSeconds: number
  /** By process. */
  readonly cpuSecondsOf: Readonly<Record<string, number>>
  readonly deletionCpuSecondsOf: Readonly<Record<string, number>>
  readonly apiServerAllocatedMB: number
  readonly apiServerAllocatedMBUntilReported: number
  /** Processors that other processes used meanwhile. */
  readonly otherProcessors: number
  /** Writes of all clients until all pods were ready, by verb and resource. */
  readonly writes: Readonly<Record<string, number>>
  readonly writesUntilReported: Readonly<Record<string, number>>
}

const kubernetes = await startKubernetes({ nodes })
const { server, ca, admin } = kubernetes
const client = createClient(
  { server, namespace: 'default', tls: () => ({ ca, certificate: admin.cert, key: admin.key }) },
  { userAgent: 'grove-bench' },
)
const operator = await startOperatorProcess(kubernetes, {
  configuration: { scheduler: { profiles: profiles.map(name => ({ name })) } },
})
const scheduler = await startScheduler(kubernetes)
await pause(startUpMs)

const runs: Record<Profile, Run[]> = { 'default-scheduler': [], 'grove-scheduler': [] }
for (let repeat = 0; repeat < Number(values.repeats); repeat++)
  for (const profile of profiles) {
    const run = await lifecycle(profile, client)
    runs[profile].push(run)
    console.log(`${profile}: ${JSON.stringify(run)}`)
  }
print()
if (values.record) record()
operator.kill()
scheduler.kill()
await client.close()
await kubernetes.stop()
process.exit(0)

async function lifecycle(profile: Profile, client: Client): Promise<Run> {
  await untilIdle(kubernetes, client)
  const namespace = await kubernetes.newNamespace('scale')
  const workload = replicated(Number(values.replicas), 2)
  const set = workload.set(namespace)
  for (const { spec } of set.spec.template.cliques) spec.podSpec.schedulerName = profile
  const observer = await new Observer(client, namespace).start()
  const allocated = await countAllocated(client)
  const requests = await countRequests(client)
  const used = countProcessorTime(kubernetes)
  const busy = countBusyProcessors()
  const before = { operator: operator.cpuSeconds(), scheduler: scheduler.cpuSeconds() }
  const seconds = stopwatch()
  await client.create(resources.podCliqueSets, set)
  await observer.untilPods(workload.pods)
  const createdSeconds = seconds()
  await observer.untilReady(workload.pods)
  const readySeconds = seconds()
  const byProcess = {
    ...used(),
    operator: operator.cpuSeconds() - before.operator,
    'grove-scheduler': scheduler.cpuSeconds() - before.scheduler,
  }
  const otherProcessors = round(Math.max(0, busy() - sumOf(byProcess) / readySeconds))
  const [apiServerAllocatedMB, writes] = await Promise.all([allocated(), requests()])
  // Statuses yield to other requests, so that some of them are written after the last pod is ready.
  await observer.untilGangsReady(workload.replicas)
  await waitFor('the set to be available', async () => {
    const { status } = await client.get(resources.podCliqueSets, { name: set.metadata.name, namespace })
    return status?.availableReplicas === workload.replicas
  })
  const reportedSeconds = seconds()
  const [allocatedUntilReported, writesUntilReported] = await Promise.all([allocated(), requests()])
  const sinceDeletion = stopwatch()
  await client.delete(resources.podCliqueSets, { name: set.metadata.name, namespace })
  const usedByDeletion = countProcessorTime(kubernetes)
  const ready = { operator: operator.cpuSeconds(), scheduler: scheduler.cpuSeconds() }
  await observer.untilGone()
  observer.stop()
  const goneSeconds = sinceDeletion()
  const deletionByProcess = {
    ...usedByDeletion(),
    operator: operator.cpuSeconds() - ready.operator,
    'grove-scheduler': scheduler.cpuSeconds() - ready.scheduler,
  }
  return {
    createdSeconds: round(createdSeconds),
    readySeconds: round(readySeconds),
    reportedSeconds: round(reportedSeconds),
    goneSeconds: round(goneSeconds),
    cpuSeconds: round(sumOf(byProcess)),
    cpuSecondsOf: rounded(byProcess),
    deletionCpuSecondsOf: rounded(deletionByProcess),
    apiServerAllocatedMB: Math.round(apiServerAllocatedMB),
    apiServerAllocatedMBUntilReported: Math.round(allocatedUntilReported),
    otherProcessors,
    writes,
    writesUntilReported,
  }
}

/** Under its own account, with exactly the documented rights. */
async function startScheduler(kubernetes: Kubernetes) {
  const leaseName = 'grove-scheduler-leader-election'
  await kubernetes.apply(schedulerAccess(leaseName))
  const [metrics = 0, probes = 0] = await freePorts(2)
  const config = join(kubernetes.directory, 'scheduler.json')
  const bindAddress = '127.0.0.1'
  writeFileSync(
    config,
    JSON.stringify({
      apiVersion: 'scheduler.config.grove.io/v1alpha1',
      kind: 'SchedulerConfiguration',
      logLevel: 'error',
      leaderElection: { enabled: true, resourceName: leaseName, resourceNamespace: operatorNamespace },
      metrics: { bindAddress, port: metrics },
      healthProbes: { bindAddress, port: probes },
    }),
  )
  const main = resolve(import.meta.dirname, '../packages/scheduler/src/main.ts')
  const child = spawn(process.execPath, [main, '--config', config], {
    env: {
      ...process.env,
      KUBECONFIG: kubernetes.kubeconfigFor(serviceAccount(operatorNamespace, schedulerAccountName)),
    },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  await waitFor('the scheduler to be ready', async () => {
    const response = await fetch(`http://${bindAddress}:${probes}/readyz`).catch(() => undefined)
    return response?.status === 200
  })
  return { cpuSeconds: () => cpuSecondsOf(child.pid!), kill: () => child.kill('SIGKILL') }
}

function print(): void {
  const total = (writes: Run['writes']) => Object.values(writes).reduce((sum, count) => sum + count, 0)
  const row = (what: string, of: (run: Run) => number) =>
    console.log(
      what.padEnd(34) + profiles.map(profile => runs[profile].map(of).join(' ').padStart(20)).join(''),
    )
  console.log(`\n${''.padEnd(34)}${profiles.map(profile => profile.padStart(20)).join('')}`)
  row('all pods created, s', run => run.createdSeconds)
  row('all pods ready, s', run => run.readySeconds)
  row('all statuses written, s', run => run.reportedSeconds)
  row('everything gone, s', run => run.goneSeconds)
  row('writes of all clients until ready', run => total(run.writes))
  row('and until all statuses are', run => total(run.writesUntilReported))
  row('processor seconds until ready', run => run.cpuSeconds)
  row('and of the deletion', run => round(sumOf(run.deletionCpuSecondsOf)))
  row('allocated by the API server, MB', run => run.apiServerAllocatedMB)
  row('and until all statuses are', run => run.apiServerAllocatedMBUntilReported)
}

function record(): void {
  writeFileSync(
    resolve(import.meta.dirname, 'results/schedulers.json'),
    `${JSON.stringify(
      {
        command: 'npm run bench -- schedulers --record',
        date: new Date().toISOString().slice(0, 10),
        machine: {
          cores: availableParallelism(),
          kind: 'cloud machine, both cores shared by all processes',
        },
        kubernetes: kubernetes.version,
        node: process.versions.node,
        nodes,
        workload: `${values.replicas} replicas of 2 pods`,
        runs,
      },
      undefined,
      2,
    )}\n`,
  )
}

function rounded(byProcess: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(byProcess).map(([who, used]) => [who, round(used)]))
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}
