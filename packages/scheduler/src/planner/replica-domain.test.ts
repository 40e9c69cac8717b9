// SPDX-License-Identifier: Apache-2.0
import { deepEqual, equal, ok } from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Pod, PodGang } from '@grove/api'
import fc from 'fast-check'
import { defaultPolicy, plan, snapshotFrom } from '../index.ts'
import { propertyOptions } from '../testing/instances.ts'
import { gpu, memberPod, node, podGang, topologyBinding } from '../testing/objects.ts'
import { type Assigned, enumerate } from '../testing/oracle.ts'
import type { Gang, Snapshot, SnapshotObjects } from '../types.ts'

const policy = { ...defaultPolicy, fixes: false, replicaScope: 'Require' } as const
const levels = { rack: 'rack', host: 'kubernetes.io/hostname' }

/** A base gang that requires a rack, and scaled gangs without a constraint. Pods take one node each. */
function cluster(
  racks: readonly number[],
  base: { readonly pods: number; readonly running?: readonly string[] },
  scaled: readonly number[],
): SnapshotObjects {
  const nodes = racks.flatMap((size, rack) =>
    Array.from({ length: size }, (_, at) =>
      node(`r${rack}-${at}`, { [gpu]: '8' }, { labels: { rack: `r${rack}` } }),
    ),
  )
  const running = base.running ?? []
  const podGangs: PodGang[] = [
    podGang('base', [{ name: 'base-c', min: base.pods + running.length }], {
      topology: 'fabric',
      required: 'rack',
    }),
    ...scaled.map((pods, i) => podGang(`scaled-${i}`, [{ name: `scaled-${i}-c`, min: pods }])),
  ]
  const pods: Pod[] = [
    ...running.map((at, i) => memberPod('base', 'base-c', 100 + i, { [gpu]: '8' }, { node: at })),
    ...Array.from({ length: base.pods }, (_, i) => memberPod('base', 'base-c', i, { [gpu]: '8' })),
    ...scaled.flatMap((count, gang) =>
      Array.from({ length: count }, (_, i) =>
        memberPod(`scaled-${gang}`, `scaled-${gang}-c`, i, { [gpu]: '8' }, { baseGang: 'base' }),
      ),
    ),
  ]
  return { nodes, pods, podGangs, topologyBindings: [topologyBinding('fabric', levels)] }
}

const decide = (objects: SnapshotObjects) => plan(snapshotFrom(objects), policy, 0)
const verdicts = (objects: SnapshotObjects) => decide(objects).gangs.map(({ verdict }) => verdict)
const racksOf = (objects: SnapshotObjects) => [
  ...new Set(decide(objects).bindings.map(one => one.node.split('-')[0])),
]

describe('replicaScope: Require', () => {
  test('all gangs of a replica share the rack of the base gang', () => {
    const objects = cluster([3, 6], { pods: 2 }, [2, 2])
    deepEqual(racksOf(objects), ['r1'])
    const scope = decide(objects).gangs[1]!.scopes[0]
    deepEqual(scope, {
      name: 'replica of PodGang base',
      kind: 'replica',
      required: { level: 'rack', key: 'rack', domain: { rack: 'r1' } },
    })
  })
  test('a scaled gang that does not fit there waits, and its explanation names the domain', () => {
    const objects = cluster([4, 4], { pods: 0, running: ['r0-0', 'r0-1'] }, [3])
    deepEqual(verdicts(objects), ['Scheduled', 'Unschedulable'])
    const { explanation } = decide(objects).gangs[1]!
    equal(explanation?.code, 'PinnedDomainFull')
    equal(explanation?.message, 'replica of PodGang base runs in r0, which lacks 8 nvidia.com/gpu')
    const prefer = plan(snapshotFrom(objects), { ...policy, replicaScope: 'Prefer' }, 0)
    equal(prefer.gangs[1]!.verdict, 'Scheduled')
  })
  test('a base gang that is not bound yet moves, so that its scaled gangs fit', () => {
    // Another gang takes the rack of three nodes as long as the replica does not need it.
    const objects = cluster([3, 3], { pods: 1 }, [2])
    deepEqual(verdicts(objects), ['Scheduled', 'Scheduled'])
    equal(racksOf(objects).length, 1)
  })
  test('surplus stays in the rack of the replica', () => {
    const objects = cluster([3, 3], { pods: 0, running: ['r0-0'] }, [1])
    const more = [1, 2, 3].map(i =>
      memberPod('scaled-0', 'scaled-0-c', i, { [gpu]: '8' }, { baseGang: 'base' }),
    )
    const { bindings } = decide({ ...objects, pods: [...objects.pods, ...more] })
    deepEqual(bindings.map(one => one.node).sort(), ['r0-1', 'r0-2'])
  })
})

test('verdicts agree with a complete search in which all gangs share one rack', () => {
  const tally = { scheduled: 0, waiting: 0 }
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 3 }),
      fc.integer({ min: 1, max: 2 }),
      fc.boolean(),
      fc.array(fc.integer({ min: 1, max: 2 }), { minLength: 1, maxLength: 2 }),
      (racks, pods, isRunning, scaled) => {
        const objects = cluster(racks, isRunning ? { pods, running: ['r0-0'] } : { pods }, scaled)
        const snapshot = snapshotFrom(objects)
        const { gangs, bindings } = plan(snapshot, policy, 0)
        const accepted: Gang[] = []
        for (const [i, gang] of snapshot.gangs.entries()) {
          if (gangs[i]!.verdict === 'Blocked') {
            equal(accepted.length, 0, 'only without its base gang')
            continue
          }
          const fits = enumerate(snapshot, [...accepted, gang], assigned => inOneRack(snapshot, assigned))
          equal(gangs[i]!.verdict, fits ? 'Scheduled' : 'Unschedulable', gang.name)
          tally[fits ? 'scheduled' : 'waiting']++
          if (fits) accepted.push(gang)
        }
        const used = [...bindings.map(one => one.node), ...snapshot.boundPods.map(pod => pod.node!)]
        ok(new Set(used.map(name => name.split('-')[0])).size <= 1)
      },
    ),
    propertyOptions(300),
  )
  ok(tally.scheduled > 50 && tally.waiting > 50, JSON.stringify(tally))
})

function inOneRack({ boundPods }: Snapshot, assigned: Assigned): boolean {
  const names = [...assigned.map(({ node }) => node), ...boundPods.map(pod => pod.node!)]
  return new Set(names.map(name => name.split('-')[0])).size <= 1
}
