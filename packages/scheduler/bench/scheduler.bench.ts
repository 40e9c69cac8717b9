// SPDX-License-Identifier: Apache-2.0

// The placement core without an API server: `npm run bench -- scheduler [--only TEXT] [--cycles 10000] [--record]`.
import { writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { defaultPolicy, plan, snapshotFrom } from '../src/index.ts'
import type { Policy } from '../src/types.ts'
import { heapMiB, timed } from './measure.ts'
import { type BenchShape, shapes } from './shapes.ts'

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    runs: { type: 'string', default: '5' },
    cycles: { type: 'string', default: '1000' },
    record: { type: 'boolean', default: false },
  },
})
const runs = Number(values.runs)
const cycles = Number(values.cycles)

function measureShape(shape: BenchShape) {
  const objects = shape.objects()
  const snapshot = snapshotFrom(objects)
  const policy: Policy = {
    ...defaultPolicy,
    fixes: shape.fixes ?? false,
    preemption: shape.evicted === undefined ? 'Disabled' : 'Enabled',
  }
  const decision = plan(snapshot, policy, 0)
  const scheduled = decision.gangs.filter(({ verdict }) => verdict === 'Scheduled').length
  if (scheduled !== shape.scheduled)
    throw new Error(`${shape.name}: ${scheduled} gangs are scheduled, expected ${shape.scheduled}`)
  if (decision.evictions.length !== (shape.evicted ?? 0))
    throw new Error(`${shape.name}: ${decision.evictions.length} pods are evicted, expected ${shape.evicted}`)
  const waiting = decision.gangs.find(({ explanation }) => explanation)?.explanation
  const timing = timed(runs, () => plan(snapshot, policy, 0))
  const { median } = timing.cpuMs
  return {
    shape: shape.name,
    ...timing,
    targetMs: Math.round(shape.targetMs),
    ratioToTarget: Math.round((median / shape.targetMs) * 100) / 100,
    podsPerSecond: Math.round((shape.pods / median) * 1000),
    steps: decision.steps,
    ...(waiting ? { code: waiting.code, fixes: waiting.fixes.length } : {}),
  }
}

const chosen = shapes.filter(({ name }) => name.includes(values.only))
const results = chosen.map(shape => {
  const result = measureShape(shape)
  const { min, median, max } = result.cpuMs
  console.log(
    `${result.ratioToTarget <= 1 ? '✓' : '✗'} ${shape.name}: ${median} ms (${min} to ${max}), target ${result.targetMs} ms, ${result.podsPerSecond} pods/s, ${result.steps} steps ${result.code ?? ''}`,
  )
  return result
})

/**
 * The heap that snapshots and decisions add to the objects of the watch caches, and the heap that many cycles leave
 * behind.
 */
function measureMemory() {
  const shape = shapes.find(({ name }) => name.startsWith('explain with fixes, required rack'))!
  const objects = shape.objects()
  const before = heapMiB()
  const policy = { ...defaultPolicy, fixes: false }
  const snapshot = snapshotFrom(objects)
  const decision = plan(snapshot, policy, 0)
  const held = heapMiB() - before
  if (decision.gangs.length === 0 || snapshot.nodes.length === 0) throw new Error('nothing was planned')
  const small = shapes.find(({ name }) => name.startsWith('512 one-GPU'))!.objects()
  const cycle = () => plan(snapshotFrom(small), policy, 0)
  for (let i = 0; i < 100; i++) cycle()
  const warm = heapMiB()
  for (let i = 0; i < cycles; i++) cycle()
  const round = (value: number) => Math.round(value * 10) / 10
  return {
    nodes: objects.nodes.length,
    pods: objects.pods.length,
    heldMiB: round(held),
    targetMiB: 64,
    cycles,
    growthMiB: round(heapMiB() - warm),
  }
}

const memory = values.only === '' || values.only === 'memory' ? measureMemory() : undefined
if (memory)
  console.log(
    `${memory.heldMiB <= memory.targetMiB ? '✓' : '✗'} memory, ${memory.nodes} nodes, ${memory.pods} pods: ${memory.heldMiB} MiB over the objects, target ${memory.targetMiB} MiB; ${memory.cycles} cycles leave ${memory.growthMiB} MiB`,
  )

if (values.record)
  writeFileSync(
    resolve(import.meta.dirname, '../../../bench/results/scheduler.json'),
    `${JSON.stringify({ command: 'npm run bench -- scheduler --record', machine: { cores: availableParallelism(), kind: 'cloud machine, both cores shared by all processes' }, node: process.versions.node, results, memory }, undefined, 2)}\n`,
  )
