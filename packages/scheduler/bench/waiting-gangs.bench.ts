// SPDX-License-Identifier: Apache-2.0

// Explanations of many waiting gangs on 5,000 nodes: `npm run bench -- waiting-gangs [--gangs 250,500,1000,2000]
// [--record]`. `cycle` is a plan as the scheduler makes it, without fixes; `explain` is a plan as `grove explain`
// makes it, with fixes.
import { writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { defaultPolicy, plan, snapshotFrom } from '../src/index.ts'
import { gpu } from '../src/testing/objects.ts'
import type { SnapshotObjects } from '../src/types.ts'
import { type BenchGang, fabric, fillers, gangObjects, keyOf, nodesIn } from './clusters.ts'

const { values } = parseArgs({
  options: {
    gangs: { type: 'string', default: '250,500,1000,2000' },
    only: { type: 'string', default: '' },
    record: { type: 'boolean', default: false },
  },
})
const counts = values.gangs.split(',').map(Number)

interface Situation {
  readonly name: string
  /** One-GPU pods on every node. */
  readonly perNode: number
  readonly gang: (index: number) => Pick<BenchGang, 'groups' | 'options'>
}

const workers = (pods: number, gpus: number) => [
  { name: 'worker', min: pods, requests: { [gpu]: String(gpus) } },
]

const situations: readonly Situation[] = [
  {
    name: 'equal gangs, no rack has room',
    perNode: 5,
    gang: () => ({ groups: workers(4, 4), options: { required: keyOf('rack') } }),
  },
  {
    name: 'gangs of 100 sizes, no rack has room',
    perNode: 5,
    gang: i => ({ groups: workers(2 + (i % 100), 4), options: { required: keyOf('rack') } }),
  },
  {
    name: 'gangs of 100 sizes, the cluster is full',
    perNode: 8,
    gang: i => ({ groups: workers(2 + (i % 100), 1) }),
  },
  {
    name: 'equal gangs, earlier gangs take the room',
    perNode: 7,
    gang: () => ({ groups: workers(50, 1) }),
  },
  {
    name: 'gangs larger than every rack',
    perNode: 0,
    gang: i => ({ groups: workers(17 + (i % 100), 8), options: { required: keyOf('rack') } }),
  },
]

function objectsOf({ perNode, gang }: Situation, count: number): SnapshotObjects {
  const nodes = nodesIn({ nodes: 5000, nodesPerRack: 16, racksPerBlock: 8, blocksPerZone: 4 })
  const gangs = Array.from({ length: count }, (_, i): BenchGang => {
    const name = `gang-${String(i).padStart(5, '0')}`
    const { groups, options } = gang(i)
    return {
      name,
      groups: groups.map(group => ({ ...group, name: `${name}-${group.name}` })),
      ...(options && { options }),
    }
  })
  const { podGangs, pods } = gangObjects(gangs)
  return {
    nodes,
    podGangs,
    pods: [...pods, ...fillers(nodes, () => perNode, { [gpu]: '1' })],
    topologyBindings: [fabric],
  }
}

function cpuMs(work: () => void): number {
  globalThis.gc?.()
  const started = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(started)
  return Math.round((user + system) / 1000)
}

const results = situations
  .filter(({ name }) => name.includes(values.only))
  .flatMap(situation =>
    counts.map(gangs => {
      const snapshot = snapshotFrom(objectsOf(situation, gangs))
      let decision = plan(snapshot, { ...defaultPolicy, fixes: false }, 0)
      const cycleMs = cpuMs(() => plan(snapshot, { ...defaultPolicy, fixes: false }, 0))
      const explainMs = cpuMs(() => {
        decision = plan(snapshot, defaultPolicy, 0)
      })
      const waiting = decision.gangs.filter(({ verdict }) => verdict !== 'Scheduled')
      const result = {
        situation: situation.name,
        gangs,
        waiting: waiting.length,
        codes: Object.fromEntries(
          [...Map.groupBy(waiting, ({ explanation }) => explanation!.code)].map(([code, same]) => [
            code,
            same.length,
          ]),
        ),
        withFixes: waiting.filter(({ explanation }) => explanation!.fixes.length > 0).length,
        cycleMs,
        explainMs,
      }
      console.log(JSON.stringify(result))
      return result
    }),
  )
if (values.record)
  writeFileSync(
    resolve(import.meta.dirname, '../../../bench/results/waiting-gangs.json'),
    `${JSON.stringify(
      {
        command: 'npm run bench -- waiting-gangs --record',
        machine: {
          cores: availableParallelism(),
          kind: 'cloud machine, both cores shared by all processes',
        },
        node: process.versions.node,
        nodes: 5000,
        unit: 'milliseconds of CPU time',
        results,
      },
      undefined,
      2,
    )}\n`,
  )
