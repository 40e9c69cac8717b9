// SPDX-License-Identifier: Apache-2.0

// `npm run bench -- scale [thousand] [five-thousand] [ten] [options]`: the life of sets on a real control plane with
// admission on, beside the ceiling (plain pods by a bare loop) and the floor (a bare loop that writes what any operator
// must write). All from one run, so that the ratios mean something on any machine.
//   --replicas=500        of the set `thousand`, two pods each
//   --group-replicas=624  of both groups of the set `five-thousand`
//   --steady=30           seconds of watching a settled set after a trigger that changes nothing; 0 leaves it out
//   --rounds=10           of the set of ten pods
//   --no-compare          without ceiling and floor
//   --no-zero             without scaling to zero and back
//   --authorizer          managed objects are protected: every change of one is asked about
//   --node=FLAG           for the operator's Node, any number of times
import { parseArgs } from 'node:util'
import { type Client, createClient } from '@grove/kube'
import { startKubernetes } from '@grove/test-kubernetes'
import { startOperatorProcess } from '@grove/test-scenarios'
import { ceiling, floor, type Times } from './scale/bare-loop.ts'
import { type Life, lifeOf, smallRounds } from './scale/operator.ts'
import { sumOf } from './scale/processor-time.ts'
import { pause } from './scale/stopwatch.ts'
import { grouped, replicated, type Workload } from './scale/workloads.ts'

const nodes = 100
/** The controllers of a control plane need some seconds until all of them run. */
const settleMs = 8_000

const { values, positionals } = parseArgs({
  args: process.argv.slice(2),
  allowPositionals: true,
  options: {
    replicas: { type: 'string', default: '500' },
    'group-replicas': { type: 'string', default: '624' },
    steady: { type: 'string', default: '30' },
    rounds: { type: 'string', default: '10' },
    'no-compare': { type: 'boolean', default: false },
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
await pause(settleMs)

for (const name of chosen) {
  const workload = workloads[name]
  if (workload) {
    const compared = values['no-compare']
      ? undefined
      : {
          ceiling: await ceiling(kubernetes, client, workload),
          floor: await floor(kubernetes, client, workload),
        }
    const life = await lifeOf(kubernetes, client, operator, workload, {
      steadySeconds: Number(values.steady),
      zero: !values['no-zero'],
    })
    console.log(
      JSON.stringify({ workload: workload.title, pods: workload.pods, nodes, ...compared, operator: life }),
    )
    print(workload, life, compared)
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
      `  of the slowest: all pods there after ${slowest.created.toFixed(2)} s, free to be placed after ` +
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

function print(workload: Workload, life: Life, compared: { ceiling: Times; floor: Times } | undefined): void {
  const row = (what: string, ours: number | undefined, key?: 'created' | 'ready' | 'gone') => {
    if (ours === undefined) return
    const least = key && compared?.floor[key]
    const beside = least
      ? `${compared.ceiling[key].toFixed(1).padStart(9)}${least.toFixed(1).padStart(9)}${(ours / least).toFixed(2).padStart(9)}`
      : ''
    console.log(`  ${what.padEnd(26)}${ours.toFixed(1).padStart(9)}${beside}`)
  }
  console.log(`\n${workload.title}: ${workload.pods} pods on ${nodes} nodes, seconds`)
  console.log(`  ${''.padEnd(26)} operator${compared ? '  ceiling    floor    ratio' : ''}`)
  row('all pods created', life.created, 'created')
  row('all pods ready', life.ready, 'ready')
  row('set available', life.available)
  row('last event written', life.settled)
  row('scaled to zero', life.toZero)
  row('ready again', life.backAgain)
  row('everything gone', life.gone, 'gone')
  const writes = Object.values(life.writes).reduce((sum, count) => sum + count, 0)
  const events = life.writes['create events'] ?? 0
  console.log(
    `  operator: ${life.cpuSeconds.toFixed(1)} s of CPU, ${life.residentMiB} MiB (peak ${life.peakMiB}), ` +
      `${writes - events} writes${compared ? ` (floor ${compared.floor.writes})` : ''} and ${events} events`,
  )
  for (const [whose, part] of [
    ['operator', life] as const,
    ...(compared ? [['floor', compared.floor] as const] : []),
  ]) {
    const each = Object.entries(part.processorTime).map(([who, used]) => `${who} ${used.toFixed(1)}`)
    console.log(
      `  processor seconds until ready, ${whose}: ${sumOf(part.processorTime).toFixed(1)} (${each.join(', ')}); ` +
        `meanwhile others had ${Math.max(0, part.others).toFixed(2)} processors`,
    )
  }
  if (compared) {
    const ratio = sumOf(life.processorTime) / sumOf(compared.floor.processorTime)
    console.log(`  processor seconds until ready, ratio to the floor: ${ratio.toFixed(2)}`)
  }
  if (life.steady)
    console.log(
      `  ${life.steady.seconds} s after a trigger without a change: ${life.steady.writes} writes, ` +
        `${life.steady.events} events, ${life.steady.cpuSeconds.toFixed(2)} s of CPU`,
    )
}
