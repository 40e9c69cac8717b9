// SPDX-License-Identifier: Apache-2.0

// Measures one cycle after one pod has changed, with and without the snapshot of the last cycle: `npm run bench --
// cycle [--runs N]`. Both are measured in turn, in one process.
import { parseArgs } from 'node:util'
import type { Pod } from '@grove/api'
import { defaultPolicy, plan, snapshotFrom } from '../src/index.ts'
import type { Snapshot, SnapshotObjects } from '../src/types.ts'
import { equalGangs, fabric, fillers, gangObjects, nodesIn } from './clusters.ts'

const { values } = parseArgs({ options: { runs: { type: 'string', default: '11' } } })
const runs = Number(values.runs)
const policy = { ...defaultPolicy, fixes: false }
const gpu = 'nvidia.com/gpu'

/** 5,000 nodes with ten pods each, and running gangs. */
function cluster(): SnapshotObjects {
  const nodes = nodesIn({ nodes: 5000, nodesPerRack: 16, racksPerBlock: 8, blocksPerZone: 4 })
  const { podGangs, pods } = gangObjects(equalGangs(100, 20, { [gpu]: '1' }))
  const running = pods.map((pod, i) => ({
    ...pod,
    spec: { ...pod.spec, nodeName: nodes[i % nodes.length]!.metadata.name },
  }))
  const others = fillers(nodes, () => 10, { cpu: '1', memory: '1Gi' })
  return { nodes, pods: [...others, ...running], podGangs, topologyBindings: [fabric] }
}

/** Watch caches replace the object that changed and keep all others. */
function afterOneChange(objects: SnapshotObjects, step: number): SnapshotObjects {
  const at = (step * 7919) % objects.pods.length
  const old = objects.pods[at]!
  const node = objects.nodes[(step * 104_729) % objects.nodes.length]!.metadata.name
  const next: Pod = { ...old, spec: { ...old.spec, nodeName: node } }
  return { ...objects, pods: objects.pods.with(at, next) }
}

function cpuMs(work: () => void): number {
  globalThis.gc?.()
  const started = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(started)
  return (user + system) / 1000
}

let objects = cluster()
let previous: Snapshot = snapshotFrom(objects)
plan(previous, policy, 0)
const derived: number[] = []
const fresh: number[] = []
for (let step = 1; step <= runs + 2; step++) {
  objects = afterOneChange(objects, step)
  const whole = cpuMs(() => plan(snapshotFrom(objects), policy, 0))
  const part = cpuMs(() => {
    previous = snapshotFrom(objects, { previous })
    plan(previous, policy, 0)
  })
  // Warm-up cycles.
  if (step > 2) {
    fresh.push(whole)
    derived.push(part)
  }
}
const median = (times: number[]) => times.sort((a, b) => a - b)[Math.floor(times.length / 2)]!
const text = (times: number[]) =>
  `${median(times).toFixed(1)} ms (${times[0]!.toFixed(1)} to ${times.at(-1)!.toFixed(1)})`
console.log(
  `${objects.nodes.length} nodes, ${objects.pods.length} pods, one pod changed, ${runs} cycles, processor time`,
)
console.log(`  without the last snapshot  ${text(fresh)}`)
console.log(`  with the last snapshot     ${text(derived)}`)
console.log(`  ratio                      ${(median(derived) / median(fresh)).toFixed(2)}`)
