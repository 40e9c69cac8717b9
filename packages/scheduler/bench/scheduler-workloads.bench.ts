// SPDX-License-Identifier: Apache-2.0

// Published workloads in the placement core: `npm run bench -- scheduler-workloads [--openb FOLDER [--lists
// default,multigpu50]] [--record]`.
//   gangs: 53 gangs of 1 to 32 pods on 32 nodes, each of which runs two minutes, in virtual time
//   openb: node and pod lists of https://github.com/hkust-adsl/kubernetes-scheduler-simulator (data/csv), if --openb names
//          their folder. Pods that ask for a share of a GPU are left out, because the scheduler does not share GPUs
import { readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import type { Node, Pod } from '@grove/api'
import { fragmentationOf } from '../src/capacity/fragmentation.ts'
import { defaultPolicy, plan, snapshotFrom } from '../src/index.ts'
import { runCycle } from '../src/planner/cycle.ts'
import { gpu, node, pod } from '../src/testing/objects.ts'
import type { SnapshotObjects } from '../src/types.ts'
import { equalGangs, gangObjects, gpuNode } from './clusters.ts'
import { timed } from './measure.ts'

const { values } = parseArgs({
  options: {
    openb: { type: 'string' },
    lists: { type: 'string', default: 'default,multigpu50' },
    record: { type: 'boolean', default: false },
  },
})
const policy = { ...defaultPolicy, fixes: false }

const results = {
  gangs: gangsInVirtualTime(),
  ...(values.openb && {
    openb: values.lists.split(',').map(list => openb(values.openb!, list)),
  }),
}
console.log(JSON.stringify(results, undefined, 2))
if (!values.openb)
  console.log(
    'openb was skipped: --openb names the folder of its node and pod lists, which are not part of this repository',
  )
if (values.record)
  writeFileSync(
    resolve(import.meta.dirname, '../../../bench/results/scheduler-workloads.json'),
    `${JSON.stringify({ command: 'npm run bench -- scheduler-workloads --openb FOLDER --record', machine: { cores: availableParallelism(), kind: 'cloud machine, both cores shared by all processes' }, node: process.versions.node, ...results }, undefined, 2)}\n`,
  )

/** Sizes in the order of submission. Every row fills the 32 nodes. */
function gangsInVirtualTime() {
  const rows = [[32], [16, 16], [10, 10, 10, 2], [8, 8, 8, 8], [6, 6, 6, 6, 6, 1, 1]]
  const further = [
    [5, 5, 5, 5, 5, 5, 2],
    [4, 4, 4, 4, 4, 4, 4, 2, 1, 1],
    [4, 4, 4, 4, 4, 4, 4, 4],
    [3, 3, 3, 3, 3, 3, 3, 3, 3, 5],
  ]
  const sizes = [...rows, ...further].flat()
  const nodeCount = 32
  const minutes = 2
  const nodes = Array.from({ length: nodeCount }, (_, i) => node(`n${String(i).padStart(2, '0')}`, gpuNode))
  const waiting = new Map(
    sizes.map((pods, i) => {
      const [gang] = equalGangs(1, pods, { [gpu]: '8' }, { createdAt: stamp(i) })
      const name = `gang-${String(i).padStart(2, '0')}`
      return [name, { ...gang!, name, groups: gang!.groups.map(group => ({ ...group, name: `${name}-w` })) }]
    }),
  )
  const running: { readonly end: number; readonly pods: Pod[] }[] = []
  let now = 0
  let busyNodeMinutes = 0
  let lowestOccupancy = 1
  let cpuMs = 0
  while (waiting.size > 0) {
    const objects = gangObjects([...waiting.values()])
    const bound = running.flatMap(({ pods }) => pods)
    const started = process.cpuUsage()
    const decision = plan(snapshotFrom({ ...objects, nodes, pods: [...objects.pods, ...bound] }), policy, 0)
    const { user, system } = process.cpuUsage(started)
    cpuMs += (user + system) / 1000
    for (const { name, verdict } of decision.gangs) {
      if (verdict !== 'Scheduled') continue
      waiting.delete(name)
      const own = decision.bindings.filter(binding => binding.gang === name)
      running.push({
        end: now + minutes,
        pods: own.map(binding => pod(binding.pod, { [gpu]: '8' }, { node: binding.node })),
      })
    }
    const busy = running.reduce((sum, { pods }) => sum + pods.length, 0)
    if (waiting.size > 0) lowestOccupancy = Math.min(lowestOccupancy, busy / nodeCount)
    const next = Math.min(...running.map(({ end }) => end))
    busyNodeMinutes += busy * (next - now)
    now = next
    for (let i = running.length - 1; i >= 0; i--) if (running[i]!.end <= now) running.splice(i, 1)
  }
  const makespan = now + minutes * (running.length > 0 ? 1 : 0)
  return {
    gangs: sizes.length,
    makespanMinutes: makespan,
    boundMinutes: (sizes.reduce((sum, size) => sum + size, 0) / nodeCount) * minutes,
    lowestOccupancyWhileGangsWait: lowestOccupancy,
    meanOccupancy: Math.round((busyNodeMinutes / (makespan * nodeCount)) * 1000) / 1000,
    cpuMs: Math.round(cpuMs),
  }
}

function stamp(second: number): string {
  return new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString()
}

interface OpenbPod {
  readonly name: string
  readonly requests: Record<string, string>
}

function openb(folder: string, list: string) {
  const nodes = rowsOf(join(folder, 'openb_node_list_gpu_node.csv')).map(row =>
    node(row.sn!, {
      cpu: `${row.cpu_milli}m`,
      memory: `${row.memory_mib}Mi`,
      [gpu]: row.gpu!,
    }),
  )
  const all = rowsOf(join(folder, `openb_pod_list_${list}.csv`))
  const pods = all
    .filter(row => !(row.num_gpu === '1' && Number(row.gpu_milli) < 1000))
    .map(
      (row): OpenbPod => ({
        name: row.name!,
        requests: {
          cpu: `${row.cpu_milli}m`,
          memory: `${row.memory_mib}Mi`,
          ...(row.num_gpu === '0' ? {} : { [gpu]: row.num_gpu! }),
        },
      }),
    )
  const { podGangs, pods: members } = gangObjects(
    pods.map(({ name, requests }, i) => ({
      name,
      groups: [{ name, min: 1, requests }],
      options: { createdAt: stamp(i) },
    })),
  )
  const snapshot = snapshotFrom({ nodes, podGangs, pods: members })
  // Placements only. Explanations of thousands of waiting pods are measured separately.
  const timing = timed(1, () => runCycle(snapshot, policy))
  const ours = new Map(
    runCycle(snapshot, policy).results.flatMap(result =>
      result.kind === 'accepted'
        ? result.accepted.placement.map(
            placed => [result.task.gang.name, snapshot.nodes[placed.node]!.name] as const,
          )
        : [],
    ),
  )
  return {
    list,
    pods: pods.length,
    leftOut: all.length - pods.length,
    ...timing,
    targetMs: 2000,
    groveScheduler: outcome(nodes, pods, ours),
    bestFit: outcome(nodes, pods, bestFit(nodes, pods)),
  }
}

/** Allocated GPUs, and free GPUs that a pod of the list cannot use, as a share of all GPUs. */
function outcome(nodes: readonly Node[], pods: readonly OpenbPod[], placed: ReadonlyMap<string, string>) {
  const objects: SnapshotObjects = {
    nodes,
    podGangs: [],
    pods: pods.flatMap(({ name, requests }) => {
      const at = placed.get(name)
      return at === undefined ? [] : [pod(name, requests, { node: at })]
    }),
  }
  const demand = gangObjects(
    pods.map(({ name, requests }) => ({ name, groups: [{ name, min: 1, requests }] })),
  )
  const { gangs } = snapshotFrom({ nodes, ...demand })
  const workload = gangs.flatMap(({ groups }) => groups.flatMap(({ candidates }) => candidates))
  const { free, unusable } = fragmentationOf(snapshotFrom(objects), gangs, workload)
  const total = nodes.reduce((sum, { status }) => sum + Number(status?.allocatable?.[gpu] ?? 0), 0)
  const percent = (gpus: number) => Math.round((gpus / total) * 1000) / 10
  return {
    podsPlaced: placed.size,
    gpusAllocatedPercent: percent(total - free),
    gpusFragmentedPercent: percent(unusable),
  }
}

/** Each pod is placed on the node that it leaves the least free, as a sum of shares of the largest node. */
function bestFit(nodes: readonly Node[], pods: readonly OpenbPod[]): Map<string, string> {
  const { nodes: read } = snapshotFrom({ nodes, podGangs: [], pods: [] })
  const names = ['cpu', 'memory', gpu]
  const free = read.map(({ allocatable }) => names.map(name => allocatable[name] ?? 0))
  const largest = names.map((_, at) => Math.max(...free.map(amounts => amounts[at]!)))
  const demand = gangObjects(
    pods.map(({ name, requests }) => ({ name, groups: [{ name, min: 1, requests }] })),
  )
  const needs = new Map(
    snapshotFrom({ nodes, ...demand }).gangs.map(gang => [
      gang.name,
      names.map(name => gang.groups[0]!.candidates[0]!.needs.requests[name] ?? 0),
    ]),
  )
  const placed = new Map<string, string>()
  for (const { name } of pods) {
    const wanted = needs.get(name)!
    let best = -1
    let least = Number.POSITIVE_INFINITY
    for (const [index, amounts] of free.entries()) {
      if (wanted.some((amount, at) => amount > amounts[at]!)) continue
      const rest = amounts.reduce((sum, amount, at) => sum + (amount - wanted[at]!) / largest[at]!, 0)
      if (rest < least) [best, least] = [index, rest]
    }
    if (best < 0) continue
    free[best] = free[best]!.map((amount, at) => amount - wanted[at]!)
    placed.set(name, read[best]!.name)
  }
  return placed
}

function rowsOf(path: string): Record<string, string>[] {
  const [head = '', ...lines] = readFileSync(path, 'utf8').trim().split(/\r?\n/)
  const columns = head.split(',')
  return lines.map(line => Object.fromEntries(line.split(',').map((value, at) => [columns[at]!, value])))
}
