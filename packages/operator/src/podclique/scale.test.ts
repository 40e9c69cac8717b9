// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { mostCreated } from '../apply/writes.ts'
import { indexOf, isActive } from '../state/pod-state.ts'
import { type PodShape, samplePod } from '../testing/sample-set.ts'
import { isBackingOff } from './back-off.ts'
import { deletionOrder, planScale } from './scale.ts'

const isCurrent = (hash: string) => hash === 'new'
/** Long after every pod was created, unless a test sets another time. */
const now = Date.parse('2031-01-01T00:00:00Z')

const pods = (...shapes: PodShape[]) => shapes.map((shape, at) => samplePod(`p${at}`, shape))
const live = (...indexes: number[]) => indexes.map(index => ({ index }))
const terminating = (...indexes: number[]) => indexes.map(index => ({ index, terminating: true }))

const rules: [what: string, replicas: number, shapes: PodShape[], create: number[], remove: string[]][] = [
  ['no pod exists yet', 3, [], [0, 1, 2], []],
  ['every pod exists', 3, live(0, 1, 2), [], []],
  ['holes are filled first', 6, live(0, 2, 5), [1, 3, 4], []],
  ['a terminating pod is replaced at once, under its index', 3, [...live(0, 2), ...terminating(1)], [1], []],
  ['terminating pods are not surplus pods', 3, [...live(0, 1, 2), ...terminating(3, 4)], [], []],
  ['counts only active pods', 3, [...live(0, 1, 2, 3), ...terminating(4)], [], ['p3']],
  [
    'a failed pod is deleted, and its index is used again',
    2,
    [{}, { index: 1, phase: 'Failed' }],
    [1],
    ['p1'],
  ],
  ['a succeeded pod is deleted, and its index is used again', 1, [{ phase: 'Succeeded' }], [0], ['p0']],
  ['a finished pod that is terminating is left alone', 1, [{ phase: 'Failed', terminating: true }], [0], []],
  ['a pod of an unreachable node keeps its index', 1, [{ phase: 'Unknown' }], [], []],
  ['among equals the highest index is deleted', 1, live(0, 1, 2), [], ['p2', 'p1']],
  ['scaled to zero, every pod is deleted', 0, [{}, { index: 1, phase: 'Failed' }], [], ['p1', 'p0']],
  ['an index above the count stays while its pod exists', 2, live(1, 5), [], []],
  ['of two pods with one index the less ready one is deleted', 2, [{}, { phase: 'Pending' }], [1], ['p1']],
  [
    'a duplicate index is deleted before other surplus pods',
    2,
    [...live(1, 1), { phase: 'Pending' }],
    [],
    ['p0'],
  ],
  ['a pod with a foreign hostname counts as a replica without an index', 2, [{ hostname: 'c' }], [0], []],
]
for (const [what, replicas, shapes, create, remove] of rules)
  test(what, () => {
    const plan = planScale(replicas, pods(...shapes), isCurrent, now)
    assert.deepEqual([plan.create, plan.remove.map(({ metadata }) => metadata.name)], [create, remove])
  })

const young = '2030-12-31T23:59:59.500Z'
const minuteAgo = '2030-12-31T23:59:00Z'
const hourAgo = '2030-12-31T23:00:00Z'
const failed = (index: number, created: string, shape: PodShape = {}): PodShape => ({
  index,
  phase: 'Failed',
  created,
  ...shape,
})

const delays: [
  what: string,
  replicas: number,
  shapes: PodShape[],
  create: [index: number, failures?: number][],
  remove: string[],
][] = [
  ['a pod that fails immediately keeps its index', 2, [{}, failed(1, young)], [], []],
  [
    'a pod that succeeds immediately keeps its index, too',
    2,
    [{}, failed(1, young, { phase: 'Succeeded' })],
    [],
    [],
  ],
  ['a pod that ran for a while is replaced at once', 2, [{}, failed(1, minuteAgo)], [[1, 1]], ['p1']],
  ['its replacement has one failure more', 1, [failed(0, minuteAgo, { failures: 4 })], [[0, 5]], ['p0']],
  ['after seven failures one minute is too short', 1, [failed(0, minuteAgo, { failures: 7 })], [], []],
  ['no delay is longer than five minutes', 1, [failed(0, hourAgo, { failures: 99 })], [[0, 1]], ['p0']],
  ['a pod that ran for long starts a new series', 1, [failed(0, hourAgo, { failures: 3 })], [[0, 1]], ['p0']],
  ['a pod of an earlier template causes no delay', 1, [failed(0, young, { hash: 'old' })], [[0]], ['p0']],
  ['a pod that a user deletes is replaced at once', 1, [failed(0, young, { terminating: true })], [[0]], []],
  ['a pod without an index is replaced at once', 1, [failed(0, young, { hostname: 'c' })], [[0]], ['p0']],
  ['a failed pod whose index is in use is deleted', 1, [{}, failed(0, young)], [], ['p1']],
  [
    'of two pods with one index, the one with the longer delay keeps it',
    1,
    [failed(0, young), failed(0, young, { failures: 3 })],
    [],
    ['p0'],
  ],
  ['other pods are created while failed pods are in back-off', 3, [failed(1, young)], [[0], [2]], []],
  ['pods in back-off are surplus before active ones', 1, [{}, failed(1, young)], [], ['p1']],
  [
    'among pods in back-off the highest index is deleted',
    1,
    [failed(0, young), failed(1, young)],
    [],
    ['p1'],
  ],
  ['scaled to zero, no pod is in back-off', 0, [failed(0, young)], [], ['p0']],
  [
    'an invalid failure count counts as zero',
    1,
    [failed(0, minuteAgo, { failures: '-3e9' })],
    [[0, 1]],
    ['p0'],
  ],
  [
    'an infinite failure count counts as zero',
    1,
    [failed(0, minuteAgo, { failures: '9'.repeat(400) })],
    [[0, 1]],
    ['p0'],
  ],
]
for (const [what, replicas, shapes, create, remove] of delays)
  test(`delayed replacement: ${what}`, () => {
    const plan = planScale(replicas, pods(...shapes), isCurrent, now)
    assert.deepEqual(
      plan.create.map(index => {
        const failures = plan.failures.get(index)
        return failures === undefined ? [index] : [index, failures]
      }),
      create,
    )
    assert.deepEqual(
      plan.remove.map(({ metadata }) => metadata.name),
      remove,
    )
  })

test('failed pods that a later slice replaces stay until then, so that no failure count is lost', () => {
  const shapes = Array.from({ length: mostCreated + 3 }, (_, index) =>
    failed(index, minuteAgo, { failures: 2 }),
  )
  const before = pods(...shapes)
  const first = planScale(shapes.length, before, isCurrent, now)
  assert.equal(first.create.length, mostCreated)
  assert.deepEqual(
    first.remove.map(indexOf),
    first.create.map(index => index),
  )
  const left = before.filter(pod => !first.remove.includes(pod))
  const made = first.create.map(index => samplePod(`made-${index}`, { index, phase: 'Pending' }))
  const second = planScale(shapes.length, [...left, ...made], isCurrent, now)
  assert.deepEqual(second.create, [mostCreated, mostCreated + 1, mostCreated + 2])
  assert.deepEqual([...second.failures.values()], [3, 3, 3])
  assert.deepEqual(second.remove, left)
})

test('unscheduled and unready pods are deleted first', () => {
  const old = '2030-01-01T00:00:00Z'
  const pods = [
    samplePod('p1', { created: old }),
    samplePod('p2', { hash: 'old', created: old }),
    samplePod('p3', { ready: false }),
    samplePod('p4', { phase: 'Pending' }),
    samplePod('p5', { created: '2030-06-01T00:00:00Z' }),
  ]
  assert.deepEqual(
    deletionOrder(pods, isCurrent).map(pod => pod.metadata.name),
    ['p4', 'p3', 'p2', 'p5', 'p1'],
  )
})

const anyPod = fc
  .record({
    index: fc.nat(8),
    phase: fc.constantFrom('Pending', 'Running', 'Failed', 'Succeeded', 'Unknown' as const),
    ready: fc.boolean(),
    terminating: fc.boolean(),
    hash: fc.constantFrom('new', 'old'),
    created: fc.constantFrom('2030-01-01T00:00:00Z', '2030-12-31T23:59:50Z', '2031-01-01T00:00:00Z'),
    failures: fc.constantFrom(0, 1, 5, 20),
  })
  .map(shape => shape as PodShape)

test('an applied plan gives the wanted pods with distinct indexes, deletes no active pod for a new one, and leaves nothing to plan', () => {
  fc.assert(
    fc.property(fc.nat(6), fc.array(anyPod, { maxLength: 8 }), (replicas, shapes) => {
      const before = pods(...shapes)
      const { create, remove } = planScale(replicas, before, isCurrent, now)
      const stay = before.filter(pod => isActive(pod) && !remove.includes(pod))
      const held = new Set(stay.map(indexOf))
      for (const index of create) assert.ok(!held.has(index), `${index} is in use`)
      for (const pod of remove)
        assert.ok(create.length === 0 || !isActive(pod) || held.has(indexOf(pod)), 'deleted for a new pod')
      const after = [
        ...before.filter(pod => !remove.includes(pod)),
        ...create.map(index => samplePod(`made-${index}`, { index, phase: 'Pending' })),
      ]
      const indexes = after.filter(pod => isActive(pod) || isBackingOff(pod, isCurrent, now)).map(indexOf)
      assert.equal(indexes.length, replicas)
      assert.equal(new Set(indexes).size, replicas)
      const nothing = { create: [], failures: new Map(), remove: [] }
      assert.deepEqual(planScale(replicas, after, isCurrent, now), nothing)
    }),
  )
})

test('the order of deletion is a total order: it does not depend on the order of the list', () => {
  fc.assert(
    fc.property(fc.array(anyPod, { maxLength: 8 }), fc.integer(), (shapes, seed) => {
      const ordered = pods(...shapes)
      const shuffled = [...ordered].sort((a, b) => hash(a.metadata.name, seed) - hash(b.metadata.name, seed))
      assert.deepEqual(deletionOrder(shuffled, isCurrent), deletionOrder(ordered, isCurrent))
    }),
  )
})

function hash(text: string, seed: number): number {
  return [...text].reduce((sum, char) => Math.imul(sum ^ char.charCodeAt(0), 16777619), seed)
}
