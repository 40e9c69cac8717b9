// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { ParentReadiness } from './parents.ts'
import { type Pod, podCliqueLabel, seenPod } from './pod.ts'

const pod = (name: string, clique: string, ready: boolean, terminating = false): Pod => ({
  metadata: {
    name,
    labels: { [podCliqueLabel]: clique },
    ...(terminating && { deletionTimestamp: '2030-01-01T00:00:00Z' }),
  },
  status: {
    conditions: [
      { type: 'PodScheduled', status: 'True' },
      { type: 'Ready', status: ready ? 'True' : 'False' },
    ],
  },
})

describe('seenPod', () => {
  it('is ready by the Ready condition only', () => {
    assert.equal(seenPod(pod('x', 'a', true)).ready, true)
    assert.equal(seenPod(pod('x', 'a', false)).ready, false)
    assert.equal(
      seenPod({ status: { conditions: [{ type: 'ContainersReady', status: 'True' }] } }).ready,
      false,
    )
    assert.equal(seenPod({ status: { conditions: [{ type: 'Ready', status: 'Unknown' }] } }).ready, false)
    assert.equal(seenPod({}).ready, false)
    assert.equal(seenPod({ status: { conditions: null } }).ready, false)
  })

  it('is not ready while it is terminating', () =>
    assert.equal(seenPod(pod('x', 'a', true, true)).ready, false))
})

describe('ParentReadiness', () => {
  const readiness = (...parents: [string, number][]) => new ParentReadiness(new Map(parents))

  it('reports all parents as missing before the first pod, and none if there are no parents', () => {
    assert.deepEqual(readiness(['a', 2]).missing, [{ name: 'a', have: 0, need: 2 }])
    assert.deepEqual(readiness().missing, [])
  })

  it('uses the label, not the name of a pod', () => {
    const state = readiness(['w-0-a', 1])
    state.update(seenPod(pod('w-0-a-b-x7k2p', 'w-0-a-b', true)))
    state.update(seenPod({ metadata: { name: 'w-0-a-zzzzz' }, status: pod('', '', true).status! }))
    assert.deepEqual(state.missing, [{ name: 'w-0-a', have: 0, need: 1 }])
    state.update(seenPod(pod('called-otherwise', 'w-0-a', true)))
    assert.deepEqual(state.missing, [])
  })

  it('requires all minimums at the same time', () => {
    const state = readiness(['a', 1], ['b', 1])
    state.update(seenPod(pod('a-1', 'a', true)))
    assert.deepEqual(
      state.missing.map(({ name }) => name),
      ['b'],
    )
    state.update(seenPod(pod('a-1', 'a', false)))
    state.update(seenPod(pod('b-1', 'b', true)))
    assert.deepEqual(
      state.missing.map(({ name }) => name),
      ['a'],
    )
    state.update(seenPod(pod('a-2', 'a', true)))
    assert.deepEqual(state.missing, [])
  })

  it('accepts more pods than the minimum', () => {
    const state = readiness(['a', 1])
    state.replace(['1', '2', '3'].map(name => seenPod(pod(name, 'a', true))))
    assert.deepEqual(state.all, [{ name: 'a', have: 3, need: 1 }])
    assert.deepEqual(state.missing, [])
  })

  it('equals a fresh count after any history', () => {
    const names = ['w-0-a-1', 'w-0-a-b-1', 'w-0-b-1', 'w-0-b-2', 'x']
    const cliques = ['w-0-a', 'w-0-b', 'w-0-a-b']
    const anyPod = fc
      .tuple(fc.constantFrom(...names), fc.constantFrom(...cliques), fc.boolean(), fc.boolean())
      .map(([name, clique, ready, terminating]) => pod(name, clique, ready, terminating))
    const step = fc.oneof(
      { weight: 6, arbitrary: fc.record({ kind: fc.constant('update' as const), pod: anyPod }) },
      {
        weight: 2,
        arbitrary: fc.record({ kind: fc.constant('remove' as const), name: fc.constantFrom(...names) }),
      },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('replace' as const), pods: fc.array(anyPod) }) },
    )
    const parents = fc
      .dictionary(fc.constantFrom(...cliques), fc.integer({ min: 1, max: 3 }))
      .map(counts => new Map(Object.entries(counts)))
    fc.assert(
      fc.property(parents, fc.array(step, { maxLength: 40 }), (parents, steps) => {
        const state = new ParentReadiness(parents)
        const pods = new Map<string, Pod>()
        for (const step of steps) {
          if (step.kind === 'update') {
            pods.set(step.pod.metadata!.name!, step.pod)
            state.update(seenPod(step.pod))
          } else if (step.kind === 'remove') {
            pods.delete(step.name)
            state.remove(step.name)
          } else {
            pods.clear()
            for (const pod of step.pods) pods.set(pod.metadata!.name!, pod)
            state.replace([...pods.values()].map(seenPod))
          }
          // Counted in another way than in the code: pod by pod, for each parent.
          const expected = [...parents].map(([name, need]) => ({
            name,
            need,
            have: [...pods.values()].filter(
              ({ metadata, status }) =>
                metadata!.labels![podCliqueLabel] === name &&
                metadata!.deletionTimestamp === undefined &&
                status!.conditions![1]!.status === 'True',
            ).length,
          }))
          assert.deepEqual(state.all, expected)
          assert.deepEqual(
            state.missing,
            expected.filter(({ have, need }) => have < need),
          )
        }
      }),
    )
  })
})
