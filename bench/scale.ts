// SPDX-License-Identifier: Apache-2.0

// `npm run bench -- scale [thousand] [five-thousand] [ten] [options]`: the lifecycle of sets on a real control plane
// with admission, compared with the ceiling (a bare loop that creates plain pods) and the floor (a bare loop that
// writes the objects that every operator must write). All are measured in one run, so that the ratios hold on any
// machine.
//   --replicas=500        replicas of the set `thousand`, two pods each
//   --group-replicas=624  replicas of both groups of the set `five-thousand`
//   --steady=30           seconds of observing a converged set after a trigger without a change; 0 skips it
//   --rounds=10           repetitions of the set of ten pods
//   --repeats=1           repetitions of ceiling, floor and lifecycle of the large sets, in turns; the best of each counts.
//                         The speed of a shared machine varies by a factor of two between single runs
//   --no-compare          without ceiling and floor
//   --statuses            compare also with the floor plus one status of each gang and clique
//   --no-zero             without scaling to zero and back
//   --authorizer          managed objects are protected: the API server calls a webhook for every change of one
//   --node=FLAG           an option of the operator's Node; it can be repeated
import { parseArgs } from 'node:util'
import { type Client, createClient } from '@grove/kube'
import { startKubernetes } from '@grove/test-kubernetes'
import { startOperatorProcess } from '@grove/test-scenarios'
import { ceiling, floor, type Times } from './scale/bare-loop.ts'
import { type Lifecycle, lifecycleOf, smallRounds } from './scale/operator.ts'
import { sumOf } from './scale/processor-time.ts'
import { pause } from './scale/stopwatch.ts'
import { grouped, replicated, type Workload } from './scale/workloads.ts'

const nodes = 100
/** The controllers of a control plane need some seconds until all of them run. */
const startUpMs = 8_000

const { values, positionals } = parseArgs({
  args: process.argv.slice(2),
  allowPositionals: true,
  options: {
    replicas: { type: 'string', default: '500' },
    'group-replicas': { type: 'string', default: '624' },
    steady: { type: 'string', default: '30' },
    rounds: { type: 'string', default: '10' },
    repeats: { type: 'string', default: '1' },
    'no-compare': { type: 'boolean', default: false },
    statuses: { type: 'boolean', default: false },
    'no-zero': { type: 'boolean', default: false },
    authorizer: { type: 'boolean', default: false },
    node: { type: 'string', multiple: true, default: [] },
  },
})
const chosen = positionals.length ? positionals : ['thousand', 'ten']
const workloads: Record<string, Workload> = {
  thousand: replicated(Number(values.replicas), 2),
  'five-thousand': grouped(Number(values['group-replicas'])),
}

const kubernetes = await startKubernetes({ nodes })
const operator = await startOperatorProcess(kubernetes, {
  configuration: {
    ...(values.authorizer && {
      authorizer: {
        enabled: true,
        exemptServiceAccountUserNames: ['system:serviceaccount:kube-system:generic-garbage-collector'],
      },
    }),
  },
  nodeFlags: values.node,
})
const client = connect()
operator.child.once('exit', async code => {
  console.error(`the operator ended with ${code}:\n${operator.output.slice(-4000)}`)
  await kubernetes.stop()
  process.exit(1)
})
await pause(startUpMs)

for (const name of chosen) {
  const workload = workloads[name]
  if (workload) {
    const ceilings: Times[] = []
    const floors: Times[] = []
    const withStatuses: Times[] = []
    const lifecycles: Lifecycle[] = []
    const repeats = Number(values.repeats)
    for (let repeat = 1; repeat <= repeats; repeat++) {
      if (!values['no-compare']) {
        ceilings.push(await ceiling(kubernetes, client, workload))
        floors.push(await floor(kubernetes, client, workload))
      }
      if (values.statuses) withStatuses.push(await floor(kubernetes, client, workload, { statuses: true }))
      const isLast = repeat === repeats
      lifecycles.push(
        await lifecycleOf(kubernetes, client, operator, workload, {
          steadySeconds: isLast ? Number(values.steady) : 0,
          zero: isLast && !values['no-zero'],
        }),
      )
    }
    const { title, pods } = workload
    console.log(JSON.stringify({ workload: title, pods, nodes, ceilings, floors, withStatuses, lifecycles }))
    print(workload, lifecycles, floors.length ? { ceilings, floors, withStatuses } : undefined)
  } else if (name === 'ten') {
    const rounds = Number(values.rounds)
    const times = await smallRounds(kubernetes, client, replicated(1, 10, 'tiny'), rounds)
    console.log(JSON.stringify({ workload: '10 pods', nodes, rounds: times }))
    const slowest = times.reduce((a, b) => (a.ready > b.ready ? a : b))
    console.log(
      `\n10 pods ready, ${rounds} times: at most ${slowest.ready.toFixed(2)} s; ` +
        times.map(({ ready }) => ready.toFixed(2)).join(' '),
    )
    console.log(
      `  of the slowest: all pods created after ${slowest.created.toFixed(2)} s, without gates after ` +
        `${slowest.free.toFixed(2)} s; the rest is the scheduler and the nodes`,
    )
  } else console.log(`There is no part ${name}: thousand, five-thousand, ten`)
}
operator.child.removeAllListeners('exit')
operator.kill()
await client.close()
await kubernetes.stop()
process.exit(0)

function connect(): Client {
  const { server, ca, admin } = kubernetes
  return createClient(
    { server, namespace: 'default', tls: () => ({ ca, certificate: admin.cert, key: admin.key }) },
    { userAgent: 'grove-bench' },
  )
}

interface Compared {
  readonly ceilings: readonly Times[]
  readonly floors: readonly Times[]
  readonly withStatuses: readonly Times[]
}

function print(workload: Workload, lifecycles: readonly Lifecycle[], compared: Compared | undefined): void {
  const lifecycle = lifecycles.at(-1)!
  const row = (
    what: string,
    of: (one: Lifecycle) => number | undefined,
    key?: 'created' | 'ready' | 'gone',
  ) => {
    const all = lifecycles.map(of).filter(time => time !== undefined)
    if (all.length === 0) return
    const ours = Math.min(...all)
    const best = (times: readonly Times[]) => Math.min(...times.map(each => each[key!]))
    const comparison =
      key && compared
        ? [best(compared.ceilings), best(compared.floors)].map(time => time.toFixed(1).padStart(9)).join('') +
          (ours / best(compared.floors)).toFixed(2).padStart(9)
        : ''
    const each = all.length > 1 ? `   of ${all.map(time => time.toFixed(1)).join(' ')}` : ''
    const ofFloors =
      each && key && compared ? `; floor ${compared.floors.map(one => one[key].toFixed(1)).join(' ')}` : ''
    console.log(`  ${what.padEnd(26)}${ours.toFixed(1).padStart(9)}${comparison}${each}${ofFloors}`)
  }
  console.log(`\n${workload.title}: ${workload.pods} pods on ${nodes} nodes, seconds`)
  console.log(`  ${''.padEnd(26)} operator${compared ? '  ceiling    floor    ratio' : ''}`)
  row('all pods created', one => one.created, 'created')
  row('all pods ready', one => one.ready, 'ready')
  row('set available', one => one.available)
  row('last event written', one => one.lastEvent)
  row('scaled to zero', one => one.toZero)
  row('ready again', one => one.backAgain)
  row('everything gone', one => one.gone, 'gone')
  const writes = Object.values(lifecycle.writes).reduce((sum, count) => sum + count, 0)
  const events = lifecycle.writes['create events'] ?? 0
  const floorWrites = compared?.floors.at(-1)?.writes
  console.log(
    `  operator: ${lifecycles.map(one => one.cpuSeconds.toFixed(1)).join(', ')} s of CPU, ${lifecycle.residentMiB} MiB ` +
      `(peak ${lifecycle.peakMiB}), ${writes - events} writes${floorWrites ? ` (floor ${floorWrites})` : ''} and ${events} events`,
  )
  const leanest = <T extends Lifecycle | Times>(all: readonly T[]) =>
    all.reduce((a, b) => (sumOf(a.processorTime) <= sumOf(b.processorTime) ? a : b))
  const parts: [whose: string, part: Lifecycle | Times][] = [['operator', leanest(lifecycles)]]
  if (compared) parts.push(['floor', leanest(compared.floors)])
  if (compared?.withStatuses.length) parts.push(['floor with statuses', leanest(compared.withStatuses)])
  for (const [whose, part] of parts) {
    const each = Object.entries(part.processorTime).map(([who, used]) => `${who} ${used.toFixed(1)}`)
    console.log(
      `  processor seconds until ready, ${whose}: ${sumOf(part.processorTime).toFixed(1)} (${each.join(', ')}); ` +
        `${Math.round(part.allocatedMB)} MB allocated by the API server; ready after ${part.ready.toFixed(1)} s; ` +
        `meanwhile others had ${Math.max(0, part.others).toFixed(2)} processors`,
    )
  }
  const [[, ours], ...others] = parts as [(typeof parts)[0], ...typeof parts]
  for (const [whose, part] of others)
    console.log(
      `  ratio to the ${whose}: processor seconds ` +
        `${(sumOf(ours.processorTime) / sumOf(part.processorTime)).toFixed(2)}, allocated ` +
        (ours.allocatedMB / part.allocatedMB).toFixed(2),
    )
  if (lifecycle.steady)
    console.log(
      `  ${lifecycle.steady.seconds} s after a trigger without a change: ${lifecycle.steady.writes} writes, ` +
        `${lifecycle.steady.events} events, ${lifecycle.steady.cpuSeconds.toFixed(2)} s of CPU`,
    )
}
