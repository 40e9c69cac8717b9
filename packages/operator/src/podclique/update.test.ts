// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '@grove/api'
import fc from 'fast-check'
import { samplePod } from '../testing/sample-set.ts'
import { indexOf, isActive, isReady, templateHashOf } from './pod-state.ts'
import { planScale } from './scale.ts'
import { planCliqueUpdate } from './update.ts'

const isCurrent = (hash: string) => hash === 'new'
const names = (pods: readonly Pod[]) => pods.map(pod => pod.metadata.name)
const plan = (pods: Pod[], replicas = pods.length) => planCliqueUpdate({ replicas, pods, isCurrent })

test('nothing outdated: the update is over', () => {
  assert.deepEqual(plan([samplePod('a'), samplePod('b', { ready: false })]), {
    remove: [],
    finished: true,
    waitsFor: undefined,
  })
})

test('outdated pods that serve nobody go at once, whatever the minimum', () => {
  const pods = [
    samplePod('pending', { hash: 'old', phase: 'Pending' }),
    samplePod('crashed', { hash: 'old', ready: false, exitCode: 1 }),
    samplePod('serving', { hash: 'old' }),
  ]
  assert.deepEqual(names(plan(pods, 3).remove), ['pending', 'crashed'])
})

test('a ready pod is never taken for a sick one because it once crashed', () => {
  const pods = [
    samplePod('recovered', { hash: 'old', exitCode: 1, created: '2030-01-02T00:00:00Z' }),
    samplePod('calm', { hash: 'old', created: '2030-01-01T00:00:00Z' }),
  ]
  assert.deepEqual(names(plan(pods).remove), ['calm'])
})

test('serving pods go one at a time, the oldest first', () => {
  const pods = [
    samplePod('young', { index: 0, hash: 'old', created: '2030-01-02T00:00:00Z' }),
    samplePod('old', { index: 1, hash: 'old', created: '2030-01-01T00:00:00Z' }),
  ]
  assert.deepEqual(names(plan(pods).remove), ['old'])
})

test('the next waits until the last is back and ready', () => {
  const missing = [samplePod('a', { hash: 'old' })]
  assert.match(planCliqueUpdate({ replicas: 2, pods: missing, isCurrent }).waitsFor!, /still to be made/)
  const starting = [samplePod('a', { hash: 'old' }), samplePod('b', { ready: false })]
  assert.match(plan(starting).waitsFor!, /pod b to become ready/)
})

/** Runs an update to its end in a world where pods start sooner or later, as the seed says. */
function roll(pods: Pod[], replicas: number, choose: () => number): { lowest: number; rounds: number } {
  let world = [...pods]
  let lowest = world.filter(isReady).length
  let made = 0
  for (let rounds = 0; rounds < 1000; rounds++) {
    const update = planCliqueUpdate({ replicas, pods: world, isCurrent })
    const scale = planScale(replicas, world, isCurrent)
    if (update.finished && scale.create.length === 0 && world.every(isReady)) return { lowest, rounds }
    assert.ok(update.remove.filter(isReady).length <= 1, 'one serving pod at a time')
    for (const pod of update.remove)
      assert.ok(!isCurrent(templateHashOf(pod) ?? ''), 'never a pod that is up to date')
    const gone = new Set([...update.remove, ...scale.remove])
    world = world.filter(pod => !gone.has(pod))
    lowest = Math.min(lowest, world.filter(pod => isActive(pod) && isReady(pod)).length)
    for (const index of planScale(replicas, world, isCurrent).create)
      world.push(samplePod(`made-${made++}`, { index, ready: false }))
    // Some of what is starting becomes ready, never all of it at once by necessity.
    world = world.map(pod =>
      !isReady(pod) && isCurrent(templateHashOf(pod) ?? '') && choose() % 3 !== 0
        ? samplePod(pod.metadata.name, { index: indexOf(pod) ?? 0 })
        : pod,
    )
  }
  throw new Error('the update never ended')
}

test('every update ends, one serving pod at a time, and never below the minimum where there are more than it', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 6 }),
      fc.integer({ min: 1, max: 6 }),
      fc.array(fc.constantFrom('ready', 'unready', 'current'), { minLength: 6, maxLength: 6 }),
      fc.integer({ min: 1 }),
      (replicas, minimum, states, seed) => {
        const minAvailable = Math.min(minimum, replicas)
        const pods = states.slice(0, replicas).map((state, index) =>
          samplePod(`p-${index}`, {
            index,
            hash: state === 'current' ? 'new' : 'old',
            ready: state !== 'unready',
          }),
        )
        const readyBefore = pods.filter(isReady).length
        let random = seed
        const { lowest } = roll(pods, replicas, () => {
          random = (Math.imul(random, 1103515245) + 12345) & 0x7fffffff
          return random
        })
        if (replicas > minAvailable) assert.ok(lowest >= Math.min(readyBefore, minAvailable))
        else assert.ok(lowest >= Math.min(readyBefore, replicas - 1))
      },
    ),
    { numRuns: 500 },
  )
})
