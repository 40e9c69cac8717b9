// SPDX-License-Identifier: Apache-2.0
import { deepEqual, equal, ok } from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Pod, PodGang } from '@grove/api'
import fc from 'fast-check'
import { defaultPolicy, plan, snapshotFrom } from '../index.ts'
import { propertyOptions } from '../testing/instances.ts'
import { gpu, memberPod, node, podGang, topologyBinding } from '../testing/objects.ts'
import { fitsTogether } from '../testing/oracle.ts'
import type { Policy, SnapshotObjects } from '../types.ts'

const policy: Policy = {
  ...defaultPolicy,
  fixes: false,
  reservation: { afterSeconds: 600, maxNodesPercent: 100 },
}
const since = '2026-01-01T00:00:00Z'
const now = Date.parse(since) + 600_000
const binding = topologyBinding('fabric', { rack: 'rack', host: 'kubernetes.io/hostname' })

interface Running {
  readonly node: string
  readonly gpus: number
}

/** A gang that waits for two whole nodes, and a younger gang of small pods. */
function cluster(
  racks: Readonly<Record<string, readonly string[]>>,
  running: readonly Running[],
  options: { big?: number; small?: number; smallGpus?: number; required?: string; waits?: boolean } = {},
): SnapshotObjects {
  const { big = 2, small = 1, smallGpus = 8, required, waits = true } = options
  const nodes = Object.entries(racks).flatMap(([rack, names]) =>
    names.map(name => node(name, { [gpu]: '8' }, { labels: { rack } })),
  )
  const podGangs: PodGang[] = [
    podGang('big', [{ name: 'big-c', min: big }], {
      createdAt: '2026-01-01T00:00:00Z',
      topology: 'fabric',
      ...(required ? { required } : {}),
      ...(waits ? { waitingSince: since } : {}),
    }),
    podGang('small', [{ name: 'small-c', min: small }], { createdAt: '2026-01-02T00:00:00Z' }),
  ]
  const pods: Pod[] = [
    ...running.map(({ node: at, gpus }, i) =>
      memberPod('old', 'old-c', i, { [gpu]: String(gpus) }, { node: at }),
    ),
    ...Array.from({ length: big }, (_, i) => memberPod('big', 'big-c', i, { [gpu]: '8' })),
    ...Array.from({ length: small }, (_, i) =>
      memberPod('small', 'small-c', i, { [gpu]: String(smallGpus) }),
    ),
  ]
  return { nodes, pods, podGangs, topologyBindings: [binding] }
}

const decide = (objects: SnapshotObjects, at = now, given = policy) => plan(snapshotFrom(objects), given, at)

describe('reservation', () => {
  const busy = { r: ['a', 'b'] }
  const half = [{ node: 'a', gpus: 8 }]

  test('a gang that has waited for long reserves room that a younger gang could use', () => {
    const { gangs, bindings } = decide(cluster(busy, half))
    deepEqual(bindings, [])
    deepEqual(gangs[0]!.explanation?.reservation, { nodes: ['a', 'b'], since: '2026-01-01T00:10:00.000Z' })
    equal(gangs[1]!.explanation?.code, 'Reserved')
    equal(gangs[1]!.explanation?.message, 'a, b is reserved for PodGang big since 2026-01-01T00:10:00.000Z')
    deepEqual(gangs[1]!.explanation?.waitsFor, { kind: 'PodGang', namespace: 'default', name: 'big' })
  })
  test('before that delay the younger gang is scheduled, and the decision contains the time of the reservation', () => {
    const { gangs, bindings, nextDeadline } = decide(cluster(busy, half), now - 1)
    deepEqual([gangs[1]!.verdict, bindings.length, nextDeadline], ['Scheduled', 1, now])
    equal(decide(cluster(busy, half, { waits: false })).bindings.length, 1)
    equal(decide(cluster(busy, half), now, { ...policy, reservation: undefined }).bindings.length, 1)
  })
  test('surplus does not use reserved room', () => {
    const objects = cluster(busy, half, { small: 0 })
    const surplus = memberPod('small', 'small-c', 0, { [gpu]: '8' })
    deepEqual(decide({ ...objects, pods: [...objects.pods, surplus] }).bindings, [])
  })
  test('reserves the rack in which the fewest pods have to terminate, and the other rack stays usable', () => {
    const racks = { r1: ['a', 'b'], r2: ['c', 'd'] }
    const running = [
      { node: 'a', gpus: 8 },
      { node: 'c', gpus: 2 },
      { node: 'c', gpus: 2 },
      { node: 'c', gpus: 2 },
    ]
    const { gangs, bindings } = decide(cluster(racks, running, { required: 'rack' }))
    deepEqual(gangs[0]!.explanation?.reservation?.nodes, ['a', 'b'])
    deepEqual(
      bindings.map(one => [one.gang, one.node]),
      [['small', 'd']],
    )
  })
  test('room that the reserved gang does not need stays usable', () => {
    const running = [{ node: 'a', gpus: 8 }]
    const { bindings } = decide(cluster({ r: ['a', 'b', 'c'] }, running, { big: 3, small: 1 }))
    deepEqual(bindings, [])
    const other = decide(
      cluster({ r: ['a', 'b', 'c', 'd'] }, [...running, { node: 'd', gpus: 4 }], { big: 3, smallGpus: 4 }),
    )
    deepEqual(
      other.bindings.map(one => [one.gang, one.node]),
      [['small', 'd']],
    )
  })
  test('takes no more nodes than the configuration allows', () => {
    const few = { ...policy, reservation: { afterSeconds: 600, maxNodesPercent: 50 } }
    equal(decide(cluster(busy, half), now, few).bindings.length, 1)
  })
  test('an older gang is not held back', () => {
    const objects = cluster(busy, half)
    const older = objects.podGangs.map(gang =>
      gang.metadata.name === 'small'
        ? { ...gang, metadata: { ...gang.metadata, creationTimestamp: '2025-01-01T00:00:00Z' } }
        : gang,
    )
    equal(decide({ ...objects, podGangs: older }).bindings.length, 1)
  })
})

test('a reservation never increases the number of pods that have to terminate for the waiting gang', () => {
  const tally = { held: 0, used: 0 }
  const instance = fc.record({
    busy: fc.array(fc.integer({ min: 0, max: 8 }), { minLength: 2, maxLength: 5 }),
    big: fc.integer({ min: 1, max: 3 }),
    small: fc.integer({ min: 1, max: 3 }),
    smallGpus: fc.constantFrom(2, 4, 8),
  })
  fc.assert(
    fc.property(instance, ({ busy, big, small, smallGpus }) => {
      const names = busy.map((_, i) => `n${i}`)
      const running = busy.flatMap((gpus, i) => (gpus > 0 ? [{ node: `n${i}`, gpus }] : []))
      const snapshot = snapshotFrom(cluster({ r: names }, running, { big, small, smallGpus }))
      const { gangs, bindings } = plan(snapshot, policy, now)
      if (gangs[0]!.verdict === 'Scheduled' || !gangs[0]!.explanation?.reservation) return
      // The fewest pods that have to terminate, before and after the younger gang was bound.
      const leaving = (extra: typeof snapshot.boundPods) => {
        const own = snapshot.boundPods
        for (let count = 0; count <= own.length; count++)
          for (const gone of subsets(own, count)) {
            const left = own.filter(pod => !gone.includes(pod))
            if (fitsTogether({ ...snapshot, boundPods: [...left, ...extra] }, [snapshot.gangs[0]!]))
              return count
          }
        return Number.POSITIVE_INFINITY
      }
      const bound = bindings.map(one => ({
        ...snapshot.gangs[1]!.groups[0]!.candidates.find(({ name }) => name === one.pod)!,
        node: one.node,
      }))
      equal(leaving(bound), leaving([]))
      tally[bound.length > 0 ? 'used' : 'held']++
    }),
    propertyOptions(200),
  )
  ok(tally.held > 10 && tally.used > 10, JSON.stringify(tally))
})

function subsets<Item>(items: readonly Item[], count: number): Item[][] {
  if (count === 0) return [[]]
  return items.flatMap((item, i) => subsets(items.slice(i + 1), count - 1).map(rest => [item, ...rest]))
}
