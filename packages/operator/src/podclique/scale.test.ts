// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { samplePod } from '../testing/sample-set.ts'
import { indexOf, isActive } from './pod-state.ts'
import { deletionOrder, planScale } from './scale.ts'

const isCurrent = (hash: string) => hash === 'new'

test('holes among the indexes are filled first', () => {
  const pods = [0, 2, 5].map(index => samplePod(`c-${index}`, { index }))
  assert.deepEqual(planScale(6, pods, isCurrent).create, [1, 3, 4])
})

test('a terminating pod is replaced at once and its index reused', () => {
  const pods = [
    samplePod('a', { index: 0 }),
    samplePod('b', { index: 1, terminating: true }),
    samplePod('c', { index: 2 }),
  ]
  assert.deepEqual(planScale(3, pods, isCurrent), { create: [1], remove: [] })
})

test('a failed pod frees its index and is removed when it is replaced', () => {
  const failed = samplePod('b', { index: 1, phase: 'Failed' })
  const plan = planScale(2, [samplePod('a', { index: 0 }), failed], isCurrent)
  assert.deepEqual(plan, { create: [1], remove: [failed] })
})

test('with terminating pods beyond the wanted number nothing else is deleted', () => {
  const pods = [0, 1, 2, 3, 4].map(index => samplePod(`c-${index}`, { index, terminating: index > 2 }))
  assert.deepEqual(planScale(3, pods, isCurrent), { create: [], remove: [] })
})

test('those that nobody misses go first', () => {
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

test('among equals the highest index goes, so that indexes stay dense', () => {
  const pods = [0, 1, 2].map(index => samplePod(`c-${index}`, { index }))
  assert.deepEqual(planScale(1, pods, isCurrent).remove.map(indexOf), [2, 1])
})

const anyPod = fc
  .record({
    index: fc.nat(8),
    phase: fc.constantFrom('Pending', 'Running', 'Failed', 'Succeeded', 'Unknown' as const),
    ready: fc.boolean(),
    terminating: fc.boolean(),
    hash: fc.constantFrom('new', 'old'),
    created: fc.constantFrom('2030-01-01T00:00:00Z', '2030-01-02T00:00:00Z'),
  })
  .map(shape => shape as Parameters<typeof samplePod>[1])

test('applying a plan leaves nothing to do: the wanted number, no index twice by our hand, nothing both made and removed', () => {
  fc.assert(
    fc.property(fc.nat(6), fc.array(anyPod, { maxLength: 8 }), (replicas, shapes) => {
      const pods = shapes.map((shape, at) => samplePod(`pod-${at}`, shape))
      const { create, remove } = planScale(replicas, pods, isCurrent)
      assert.ok(create.length === 0 || remove.every(pod => !isActive(pod)), 'never kills to replace')
      const active = pods.filter(isActive)
      for (const index of create) assert.ok(!active.some(pod => indexOf(pod) === index))
      assert.equal(new Set(create).size, create.length)
      const after = [
        ...pods.filter(pod => !remove.includes(pod)),
        ...create.map(index => samplePod(`made-${index}`, { index, phase: 'Pending' })),
      ]
      assert.equal(after.filter(isActive).length, replicas)
      assert.deepEqual(planScale(replicas, after, isCurrent), { create: [], remove: [] })
    }),
  )
})

test('the order of deletion is a total order: it does not depend on the order of the list', () => {
  fc.assert(
    fc.property(fc.array(anyPod, { maxLength: 8 }), fc.integer(), (shapes, seed) => {
      const pods = shapes.map((shape, at) => samplePod(`pod-${at}`, shape))
      const shuffled = [...pods].sort((a, b) => hash(a.metadata.name, seed) - hash(b.metadata.name, seed))
      assert.deepEqual(deletionOrder(shuffled, isCurrent), deletionOrder(pods, isCurrent))
    }),
  )
})

function hash(text: string, seed: number): number {
  return [...text].reduce((sum, char) => Math.imul(sum ^ char.charCodeAt(0), 16777619), seed)
}
