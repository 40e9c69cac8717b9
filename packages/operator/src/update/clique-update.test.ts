// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '@grove/api'
import fc from 'fast-check'
import { samplePod } from '../testing/sample-set.ts'
import { type CliqueUpdateInput, planCliqueUpdate } from './clique-update.ts'

const isCurrent = (hash: string) => hash === 'new'
const plan = (pods: Pod[], given: Partial<CliqueUpdateInput> = {}) =>
  planCliqueUpdate({
    replicas: pods.length,
    minAvailable: 1,
    pods,
    isCurrent,
    selection: undefined,
    paused: false,
    stabilizesInMs: 0,
    ...given,
  })
const old = (name: string, shape: Parameters<typeof samplePod>[1] = {}) =>
  samplePod(name, { hash: 'old', ...shape })
const replaced = (pods: Pod[], given: Partial<CliqueUpdateInput> = {}) => {
  const next = plan(pods, given)
  if (next.kind === 'replace') return next.pod.metadata.name
  if (next.kind === 'discard') return next.pods.map(pod => pod.metadata.name)
  return next.kind
}
const reason = (pods: Pod[], given: Partial<CliqueUpdateInput> = {}) => {
  const next = plan(pods, given)
  return next.kind === 'wait' ? next.because : next.kind
}

test('nothing outdated: the update is over, whatever is ready', () => {
  assert.equal(replaced([samplePod('a'), samplePod('b', { ready: false })]), 'finished')
})

test('outdated pods that serve nobody go at once, whatever the minimum', () => {
  const pods = [
    old('pending', { phase: 'Pending' }),
    old('crashed', { ready: false, exitCode: 1 }),
    old('started', { startedNotReady: true, ready: false }),
    old('serving'),
  ]
  assert.deepEqual(replaced(pods, { minAvailable: 4 }), ['pending', 'crashed', 'started'])
})

test('they wait while edits still come in: a burst must not give up every pod that is starting', () => {
  const pods = [old('starting', { ready: false }), old('serving')]
  assert.deepEqual(plan(pods, { stabilizesInMs: 1200 }), {
    kind: 'wait',
    because: 'a pod that is not ready, until the template has settled',
    retryInMs: 1200,
  })
})

test('a ready pod is never taken for a sick one because it once crashed', () => {
  const pods = [
    old('recovered', { exitCode: 1, created: '2030-01-02T00:00:00Z' }),
    old('calm', { created: '2030-01-01T00:00:00Z' }),
  ]
  assert.equal(replaced(pods), 'calm')
})

test('serving pods go one at a time, the oldest first', () => {
  const pods = [
    old('young', { created: '2030-01-02T00:00:00Z' }),
    old('old', { created: '2030-01-01T00:00:00Z' }),
  ]
  assert.deepEqual(plan(pods), { kind: 'replace', pod: pods[1] })
})

const selection = { current: 'gone', currentIndex: 2 }
const notReady = 'the new pod with index 2 is not ready yet'
const [a, b] = [old('a', { index: 0 }), old('b', { index: 1 })]
const waits: [what: string, pods: Pod[], expected: string, given?: Partial<CliqueUpdateInput>][] = [
  ['its index has a pod that starts', [a, b, samplePod('c', { index: 2, ready: false })], notReady],
  ['its index has no pod yet', [a, b], notReady, { replicas: 3 }],
  ['its index has only a pod that is terminating', [a, b, gone('c', 2)], notReady, { replicas: 3 }],
  ['its index waits for the replacement of a failed pod', [a, b, failed('c', 2)], notReady],
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
  ['nothing outdated is left, and its index is not ready', [current('a', 0), lost('c', 2)], notReady],
  ['nothing outdated is left, and another pod was lost', [current('c', 2), lost('b', 1)], 'finished'],
  ['nothing outdated is left, after a scale-in', [current('a', 0)], 'finished'],
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

test('an update of 4 pods with minAvailable 1 ends although one lost pod never comes back', () => {
  // Index 3 was lost after index 0 had been replaced; the replacement fits on no node.
  let pods = [current('n0', 0), old('o1', { index: 1 }), old('o2', { index: 2 }), lost('n3', 3)]
  let selected: CliqueUpdateInput['selection'] = { current: 'o0', currentIndex: 0 }
  const taken: string[] = []
  for (let step = 0; step < 4; step++) {
    const next = plan(pods, { selection: selected })
    if (next.kind !== 'replace') break
    const { name } = next.pod.metadata
    taken.push(name)
    const index = pods.indexOf(next.pod)
    selected = { current: name, currentIndex: index }
    pods = pods.with(index, samplePod(`n${index}`, { index, ready: false }))
    assert.equal(reason(pods, { selection: selected }), `the new pod with index ${index} is not ready yet`)
    pods = pods.with(index, current(`n${index}`, index))
  }
  assert.deepEqual(taken, ['o1', 'o2'])
  assert.equal(reason(pods, { selection: selected }), 'finished')
})

test('the readiness of other up-to-date pods changes the plan only where minAvailable is at stake', () => {
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
        if (after.kind === 'wait' && after.because.startsWith('only ')) return
        assert.deepEqual(after, before)
      },
    ),
  )
})

test('a pod that is not ready anyway does not hold the update up', () => {
  const pods = [a, b, lost('stuck', 2)]
  assert.equal(replaced(pods), 'a')
})

test('a clique with more pods than its minimum never falls below it', () => {
  const pods = [old('a'), old('b'), samplePod('stuck', { phase: 'Pending' })]
  assert.equal(reason(pods, { minAvailable: 2 }), 'only 2 of 3 pods are ready, and 2 must stay so')
})

test('one with no more than that goes below it by one, and only from the full number', () => {
  assert.equal(replaced([old('a'), old('b')], { minAvailable: 2 }), 'a')
  const short = [old('a'), samplePod('b', { ready: false })]
  assert.match(reason(short, { minAvailable: 2 }), /only 1 of 2 pods are ready/)
  assert.equal(replaced([old('a')], { minAvailable: 2, replicas: 1 }), 'a', 'scaled below its minimum')
})

test('a pod that was selected and never told to go is selected again, within the budget of now', () => {
  const selection = { current: 'b', currentIndex: 1 }
  assert.equal(replaced([old('a'), old('b'), old('c')], { selection }), 'b')
  const fewer = [old('b'), samplePod('x', { ready: false }), samplePod('y', { ready: false })]
  assert.match(reason(fewer, { selection }), /only 1 of 3/)
})

test('a selection without an index, written by another operator, leaves only minAvailable to respect', () => {
  const pods = [old('a'), samplePod('b', { ready: false }), samplePod('c')]
  const selection = { current: 'gone' }
  assert.equal(replaced(pods, { selection }), 'a')
  assert.match(reason(pods, { selection, minAvailable: 2 }), /only 2 of 3/)
})

test('a paused update takes nothing more', () => {
  assert.deepEqual(plan([old('a'), old('sick', { ready: false })], { paused: true }), {
    kind: 'wait',
    because: 'the update is paused',
    paused: true,
  })
})
