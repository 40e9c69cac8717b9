// SPDX-License-Identifier: Apache-2.0
import { deepEqual, equal, ok } from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Pod } from '@grove/api'
import fc from 'fast-check'
import { defaultPolicy, plan, snapshotFrom } from '../index.ts'
import { propertyOptions } from '../testing/instances.ts'
import { gpu, memberPod, node, podGang, topologyBinding } from '../testing/objects.ts'
import { enumerate, oracleScore } from '../testing/oracle.ts'
import type { SnapshotObjects } from '../types.ts'

const policy = { ...defaultPolicy, fixes: false }
const levels = { block: 'block', rack: 'rack', host: 'kubernetes.io/hostname' }
const annotations = { 'scheduling.grove.io/split': 'Balanced' }

interface Rack {
  readonly block?: string
  readonly nodes: number
  /** Pods of the gang that run in the rack, one on a node. */
  readonly running?: number
}

/** A gang of pods that take one node each. */
function cluster(
  racks: readonly Rack[],
  cliques: readonly number[],
  options: { required?: string; annotations?: Record<string, string> } = { annotations },
): SnapshotObjects {
  const nodes = racks.flatMap(({ block = 'b', nodes }, rack) =>
    Array.from({ length: nodes }, (_, at) =>
      node(
        `r${rack}-${String(at).padStart(2, '0')}`,
        { [gpu]: '8' },
        { labels: { block, rack: `r${rack}` } },
      ),
    ),
  )
  const running = racks.flatMap(({ running = 0 }, rack) =>
    Array.from({ length: running }, (_, at) => `r${rack}-${String(at).padStart(2, '0')}`),
  )
  const pods: Pod[] = running.map((name, at) =>
    memberPod('g', 'c0', 1000 + at, { [gpu]: '8' }, { node: name }),
  )
  cliques.forEach((count, clique) => {
    for (let at = 0; at < count; at++) pods.push(memberPod('g', `c${clique}`, at, { [gpu]: '8' }))
  })
  const groups = cliques.map((count, clique) => ({
    name: `c${clique}`,
    min: count + (clique === 0 ? running.length : 0),
  }))
  const gang = podGang('g', groups, { topology: 'fabric', preferred: 'rack', ...options })
  return { nodes, pods, podGangs: [gang], topologyBindings: [topologyBinding('fabric', levels)] }
}

/** Pods of the gang in each rack that it uses, running pods included. */
function shares(objects: SnapshotObjects): Record<string, number> {
  const { bindings, gangs } = plan(snapshotFrom(objects), policy, 0)
  equal(gangs[0]!.verdict, 'Scheduled')
  const used = [...bindings.map(one => one.node), ...objects.pods.flatMap(({ spec }) => spec.nodeName ?? [])]
  const count: Record<string, number> = {}
  for (const name of used) count[name.split('-')[0]!] = (count[name.split('-')[0]!] ?? 0) + 1
  return Object.fromEntries(Object.entries(count).sort())
}

describe('a gang with scheduling.grove.io/split: Balanced', () => {
  const two = [{ nodes: 18 }, { nodes: 18 }]
  test('is split 16 + 16 over two domains of 18, and 18 + 14 without the annotation', () => {
    deepEqual(shares(cluster(two, [32])), { r0: 16, r1: 16 })
    deepEqual(shares(cluster(two, [32], {})), { r0: 18, r1: 14 })
    deepEqual(shares(cluster(two, [33])), { r0: 17, r1: 16 })
  })
  test('stays in one domain if one holds it', () => deepEqual(shares(cluster(two, [18])), { r0: 18 }))
  test('counts its running pods', () =>
    deepEqual(shares(cluster([{ nodes: 18, running: 10 }, { nodes: 18 }], [14])), { r0: 12, r1: 12 }))
  test('is as even as the room allows', () =>
    deepEqual(shares(cluster([{ nodes: 20 }, { nodes: 10 }, { nodes: 6 }], [28])), { r0: 18, r1: 10 }))
  test('takes the block in which the split is even', () => {
    const racks = [
      { block: 'a', nodes: 18 },
      { block: 'a', nodes: 14 },
      { block: 'b', nodes: 18 },
      { block: 'b', nodes: 18 },
    ]
    deepEqual(shares(cluster(racks, [32], { required: 'block', annotations })), { r2: 16, r3: 16 })
  })
  test('counts several cliques together', () => {
    const objects = cluster(two, [16, 16])
    const mixed = objects.pods.map(pod =>
      pod.metadata.name.startsWith('c1')
        ? {
            ...pod,
            spec: { ...pod.spec, containers: [{ name: 'main', resources: { requests: { [gpu]: '7' } } }] },
          }
        : pod,
    )
    deepEqual(shares({ ...objects, pods: mixed as Pod[] }), { r0: 16, r1: 16 })
  })
})

test('no split with the best score is more even, by a complete search over equal pods', () => {
  const tally = { split: 0, whole: 0 }
  const racks = fc.array(
    fc.record({
      block: fc.constantFrom('a', 'b'),
      nodes: fc.integer({ min: 1, max: 3 }),
      running: fc.constantFrom(0, 0, 0, 1),
    }),
    { minLength: 1, maxLength: 4 },
  )
  fc.assert(
    fc.property(
      racks,
      fc.integer({ min: 1, max: 5 }),
      fc.constantFrom(undefined, 'block'),
      (given, pods, required) => {
        const objects = cluster(given, [pods], { annotations, ...(required && { required }) })
        const snapshot = snapshotFrom(objects)
        const [gang] = snapshot.gangs
        const spread = (nodes: readonly string[]) => {
          const running = gang!.groups.flatMap(({ placed }) => placed.map(pod => pod.node!))
          const counts = Map.groupBy([...running, ...nodes], name => name.split('-')[0]!)
          const sizes = [...counts.values()].map(({ length }) => length)
          return Math.max(...sizes) - Math.min(...sizes)
        }
        const { bindings, gangs } = plan(snapshot, policy, 0)
        if (gangs[0]!.verdict !== 'Scheduled') return
        let least = Number.POSITIVE_INFINITY
        enumerate(snapshot, [gang!], assigned => {
          if (oracleScore(snapshot, gang!, assigned) > gangs[0]!.placementScore! - 1e-9)
            least = Math.min(least, spread(assigned.map(one => one.node)))
          return false
        })
        const own = bindings.map(one => one.node)
        equal(spread(own), least)
        tally[new Set(own.map(name => name.split('-')[0])).size > 1 ? 'split' : 'whole']++
      },
    ),
    propertyOptions(300),
  )
  ok(tally.split > 30 && tally.whole > 30, JSON.stringify(tally))
})
