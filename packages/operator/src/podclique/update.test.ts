// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '@grove/api'
import { samplePod } from '../testing/sample-set.ts'
import { type CliqueUpdateInput, planCliqueUpdate } from './update.ts'

const isCurrent = (hash: string) => hash === 'new'
const plan = (pods: Pod[], given: Partial<CliqueUpdateInput> = {}) =>
  planCliqueUpdate({
    replicas: pods.length,
    minAvailable: 1,
    pods,
    isCurrent,
    selection: undefined,
    paused: false,
    settlesInMs: 0,
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
  assert.deepEqual(plan(pods, { settlesInMs: 1200 }), {
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
  assert.deepEqual(plan(pods), { kind: 'replace', pod: pods[1], readyBefore: 2 })
})

test('the next waits until as many are ready as before the last went', () => {
  const selection = { current: 'gone', readyBefore: 3 }
  const starting = [old('a'), old('b'), samplePod('c', { ready: false })]
  assert.match(reason(starting, { selection }), /2 pods are ready, 3 were/)
  assert.match(reason(starting.slice(0, 2), { selection, replicas: 3 }), /2 pods are ready, 3 were/)
  const back = [old('a'), old('b'), samplePod('c')]
  assert.equal(replaced(back, { selection }), 'a')
})

test('the last one has to be back before the update is over', () => {
  const selection = { current: 'gone', readyBefore: 2 }
  const pods = [samplePod('a'), samplePod('b', { ready: false })]
  assert.match(reason(pods, { selection }), /1 pods are ready, 2 were/)
  assert.equal(replaced([samplePod('a'), samplePod('b')], { selection }), 'finished')
  assert.equal(replaced([samplePod('a')], { selection }), 'finished', 'scaled in meanwhile')
})

test('a pod that is not ready anyway neither holds the update up nor lets it take more', () => {
  const pods = [old('a'), old('b'), samplePod('stuck', { phase: 'Pending' })]
  assert.equal(replaced(pods), 'a')
  const taken = [old('b'), samplePod('stuck', { phase: 'Pending' }), samplePod('new', { ready: false })]
  assert.match(reason(taken, { selection: { current: 'a', readyBefore: 2 } }), /1 pods are ready, 2 were/)
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
  const selection = { current: 'b', readyBefore: 3 }
  assert.equal(replaced([old('a'), old('b'), old('c')], { selection }), 'b')
  const fewer = [old('b'), samplePod('x', { ready: false }), samplePod('y', { ready: false })]
  assert.match(reason(fewer, { selection }), /only 1 of 3/)
})

test('what nobody wrote down in numbers waits for all', () => {
  const pods = [old('a'), samplePod('b', { ready: false }), samplePod('c')]
  assert.match(reason(pods, { selection: { current: 'gone' } }), /2 pods are ready, 3 were/)
})

test('a paused update takes nothing more', () => {
  assert.deepEqual(plan([old('a'), old('sick', { ready: false })], { paused: true }), {
    kind: 'wait',
    because: 'the update is paused',
    paused: true,
  })
})
