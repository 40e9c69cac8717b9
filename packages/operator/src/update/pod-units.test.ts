// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '@grove/api'
import fc from 'fast-check'
import { samplePod } from '../testing/sample-set.ts'
import { type PodUnit, podUnits } from './pod-units.ts'
import { podTerms, unitUpdateCondition } from './unit-messages.ts'
import { planUnitUpdate, retryInMs, type UnitUpdateInput } from './units.ts'

const isCurrent = (hash: string) => hash === 'new'
const plan = (pods: Pod[], given: Partial<UnitUpdateInput<PodUnit>> = {}) =>
  planUnitUpdate({
    replicas: pods.length,
    minAvailable: 1,
    units: podUnits(pods, isCurrent),
    selection: undefined,
    paused: false,
    stableInMs: 0,
    ...given,
  })
const old = (name: string, shape: Parameters<typeof samplePod>[1] = {}) =>
  samplePod(name, { hash: 'old', ...shape })
const replaced = (pods: Pod[], given: Partial<UnitUpdateInput<PodUnit>> = {}) => {
  const next = plan(pods, given)
  if (next.kind === 'replace') return next.unit.id
  if (next.kind === 'discard') return next.units.map(({ id }) => id)
  return next.kind
}
const reason = (pods: Pod[], given: Partial<UnitUpdateInput<PodUnit>> = {}) => {
  const next = plan(pods, given)
  if (next.kind !== 'wait') return next.kind
  return unitUpdateCondition(next, given.replicas ?? pods.length, podTerms)!.message.replace('waits: ', '')
}

test('the update ends when no pod is outdated, ready or not', () => {
  assert.equal(replaced([samplePod('a'), samplePod('b', { ready: false })]), 'finished')
})

test('outdated pods that are not ready are replaced at once, whatever minAvailable is', () => {
  const pods = [
    old('pending', { phase: 'Pending' }),
    old('crashed', { ready: false, exitCode: 1 }),
    old('started', { startedNotReady: true, ready: false }),
    old('serving'),
  ]
  assert.deepEqual(replaced(pods, { minAvailable: 4 }), ['pending', 'crashed', 'started'])
})

test('unready outdated pods are not replaced during a burst of edits, which would replace every starting pod', () => {
  const pods = [old('starting', { ready: false }), old('serving')]
  assert.equal(reason(pods, { stableInMs: 1200 }), 'a pod that is not ready, until the template is stable')
  const two = [...pods, old('another', { ready: false })]
  assert.match(reason(two, { stableInMs: 1200 }), /^2 pods that are not ready, /)
  assert.equal(retryInMs(plan(pods, { stableInMs: 1200 })), 1200)
})

test('a ready pod that once crashed counts as ready', () => {
  const pods = [
    old('recovered', { exitCode: 1, created: '2030-01-02T00:00:00Z' }),
    old('steady', { created: '2030-01-01T00:00:00Z' }),
  ]
  assert.equal(replaced(pods), 'steady')
})

test('ready pods are replaced one at a time, the oldest first', () => {
  const pods = [
    old('young', { created: '2030-01-02T00:00:00Z' }),
    old('old', { created: '2030-01-01T00:00:00Z' }),
  ]
  assert.equal(replaced(pods), 'old')
})

const selection = { current: 'gone', currentIndex: 2 }
const notReady = 'the new pod with index 2 is not ready yet'
const [a, b] = [old('a', { index: 0 }), old('b', { index: 1 })]
const waits: [what: string, pods: Pod[], expected: string, given?: Partial<UnitUpdateInput<PodUnit>>][] = [
  ['its index has a starting pod', [a, b, samplePod('c', { index: 2, ready: false })], notReady],
  ['its index has no pod yet', [a, b], notReady, { replicas: 3 }],
  ['its index has only a terminating pod', [a, b, gone('c', 2)], notReady, { replicas: 3 }],
  ['its index is in back-off after a failed pod', [a, b, failed('c', 2)], notReady],
  ['its index is ready', [a, b, samplePod('c', { index: 2 })], 'replace'],
  [
    'its index is ready, and another pod was lost',
    [a, lost('b', 1), samplePod('c', { index: 2 })],
    'replace',
  ],
  [
    'its index is ready, and another index has no pod',
    [a, samplePod('c', { index: 2 })],
    'replace',
    { replicas: 3 },
  ],
  ['a scale-in removed its index', [a, b], 'replace', { replicas: 2 }],
  ['no outdated pod is left, and its index is not ready', [current('a', 0), lost('c', 2)], notReady],
  ['no outdated pod is left, and another pod was lost', [current('c', 2), lost('b', 1)], 'finished'],
  ['no outdated pod is left, after a scale-in', [current('a', 0)], 'finished'],
]
for (const [what, pods, expected, given] of waits)
  test(`after a replacement: ${what}`, () => assert.equal(reason(pods, { selection, ...given }), expected))

function current(name: string, index: number): Pod {
  return samplePod(name, { index })
}

function lost(name: string, index: number): Pod {
  return samplePod(name, { index, phase: 'Pending' })
}

function failed(name: string, index: number): Pod {
  return samplePod(name, { index, phase: 'Failed' })
}

function gone(name: string, index: number): Pod {
  return samplePod(name, { index, terminating: true })
}

test('an update of 4 pods with minAvailable 1 ends although one lost pod never recovers', () => {
  // Index 3 was lost after index 0 had been replaced; the replacement fits on no node.
  let pods = [current('n0', 0), old('o1', { index: 1 }), old('o2', { index: 2 }), lost('n3', 3)]
  let selected: UnitUpdateInput<PodUnit>['selection'] = { current: 'o0', currentIndex: 0 }
  const taken: string[] = []
  for (let step = 0; step < 4; step++) {
    const next = plan(pods, { selection: selected })
    if (next.kind !== 'replace') break
    const { id: name, pod } = next.unit
    taken.push(name)
    const index = pods.indexOf(pod)
    selected = { current: name, currentIndex: index }
    pods = pods.with(index, samplePod(`n${index}`, { index, ready: false }))
    assert.equal(reason(pods, { selection: selected }), `the new pod with index ${index} is not ready yet`)
    pods = pods.with(index, current(`n${index}`, index))
  }
  assert.deepEqual(taken, ['o1', 'o2'])
  assert.equal(reason(pods, { selection: selected }), 'finished')
})

test('the readiness of other up-to-date pods changes the plan only if minAvailable is at risk', () => {
  const shape = fc.record({
    index: fc.nat(7),
    hash: fc.constantFrom('new', 'old'),
    ready: fc.boolean(),
    terminating: fc.boolean(),
  })
  fc.assert(
    fc.property(
      fc.uniqueArray(shape, { maxLength: 8, selector: ({ index }) => index }),
      fc.nat(7),
      fc.nat(7),
      (shapes, index, other) => {
        fc.pre(other !== index)
        const pods = shapes.map(one => samplePod(`p${one.index}`, one))
        const given = { replicas: pods.length, selection: { current: 'gone', currentIndex: index } }
        const unready = pods.map(pod =>
          pod.spec?.hostname === `c-${other}` && pod.metadata.labels?.['grove.io/pod-template-hash'] === 'new'
            ? samplePod(pod.metadata.name, { ...shapes.find(one => one.index === other), ready: false })
            : pod,
        )
        const [before, after] = [plan(pods, given), plan(unready, given)]
        if (after.kind === 'wait' && after.reason === 'budget') return
        assert.deepEqual(after, before)
      },
    ),
    { seed: 20_302, numRuns: 1000 },
  )
})

test('a pod that is not ready for another reason does not stop the update', () => {
  const pods = [a, b, lost('stuck', 2)]
  assert.equal(replaced(pods), 'a')
})

test('a clique with replicas > minAvailable keeps minAvailable pods ready', () => {
  const pods = [old('a'), old('b'), samplePod('stuck', { phase: 'Pending' })]
  assert.equal(reason(pods, { minAvailable: 2 }), 'only 2 of 3 pods are ready, and 2 must stay so')
})

test('a clique with replicas == minAvailable loses one pod at a time, and only when all pods are ready', () => {
  assert.equal(replaced([old('a'), old('b')], { minAvailable: 2 }), 'a')
  const short = [old('a'), samplePod('b', { ready: false })]
  assert.match(reason(short, { minAvailable: 2 }), /only 1 of 2 pods are ready/)
  assert.equal(replaced([old('a')], { minAvailable: 2, replicas: 1 }), 'a', 'scaled below its minimum')
})

test('a pod that was selected and not deleted is selected again, within the current budget', () => {
  const selection = { current: 'b', currentIndex: 1 }
  assert.equal(replaced([old('a'), old('b'), old('c')], { selection }), 'b')
  const fewer = [old('b'), samplePod('x', { ready: false }), samplePod('y', { ready: false })]
  assert.match(reason(fewer, { selection }), /only 1 of 3/)
})

test('a selection without an index, written by another operator, is limited only by minAvailable', () => {
  const pods = [old('a'), samplePod('b', { ready: false }), samplePod('c')]
  const selection = { current: 'gone' }
  assert.equal(replaced(pods, { selection }), 'a')
  assert.match(reason(pods, { selection, minAvailable: 2 }), /only 2 of 3/)
})

test('a paused update replaces nothing', () => {
  const next = plan([old('a'), old('sick', { ready: false })], { paused: true })
  assert.deepEqual(unitUpdateCondition(next, 2, podTerms), {
    type: 'UpdateProgressing',
    status: 'Unknown',
    reason: 'Paused',
    message: 'the update is paused',
  })
})
