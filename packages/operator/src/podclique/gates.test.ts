// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PodClique, PodGang } from '@grove/api'
import { samplePod } from '../testing/sample-set.ts'
import { type BaseGang, planGates } from './gates.ts'

function gang(groups: Record<string, { pods?: string[]; min?: number }>, initialized = true): PodGang {
  return {
    apiVersion: 'scheduler.grove.io/v1alpha1',
    kind: 'PodGang',
    metadata: { name: 'gang', namespace: 'serving' },
    spec: {
      podgroups: Object.entries(groups).map(([name, { pods = [], min = 1 }]) => ({
        name,
        minReplicas: min,
        podReferences: pods.map(pod => ({ namespace: 'serving', name: pod })),
      })),
    },
    status: {
      phase: 'Pending',
      conditions: [
        {
          type: 'Initialized',
          status: initialized ? 'True' : 'False',
          reason: 'x',
          message: '',
          lastTransitionTime: '2030-01-01T00:00:00Z',
        },
      ],
    },
  }
}

const gated = ['p0', 'p1'].map(name => samplePod(name, { phase: 'Pending', gated: true }))
const names = (plan: { release: readonly { metadata: { name: string } }[] }) =>
  plan.release.map(pod => pod.metadata.name)

test('removes the gates of pods that a complete gang lists', () => {
  const plan = planGates({
    clique: 'c',
    pods: gated,
    gang: gang({ c: { pods: ['p0', 'p1'] } }),
    base: undefined,
  })
  assert.deepEqual(names(plan), ['p0', 'p1'])
  assert.equal(plan.waitsFor, undefined)
})

test('removes no gate before the gang is complete, even if it lists the pod', () => {
  const half = gang({ c: { pods: ['p0', 'p1'] } }, false)
  assert.deepEqual(names(planGates({ clique: 'c', pods: gated, gang: half, base: undefined })), [])
})

test('keeps the gate of a pod that its gang does not list, and reports why', () => {
  const plan = planGates({ clique: 'c', pods: gated, gang: gang({ c: { pods: ['p0'] } }), base: undefined })
  assert.deepEqual(names(plan), ['p0'])
  assert.match(plan.waitsFor!, /does not list every pod/)
})

test('a scaled gang waits until minAvailable pods of every group of the base gang are scheduled', () => {
  const base = (a: number, b: number): BaseGang => ({
    gang: gang({ a: { min: 2 }, b: { min: 1 } }),
    cliqueNamed: name => ({ status: { scheduledReplicas: name === 'a' ? a : b } }) as PodClique,
  })
  const own = gang({ c: { pods: ['p0', 'p1'] } })
  assert.deepEqual(names(planGates({ clique: 'c', pods: gated, gang: own, base: base(2, 1) })), ['p0', 'p1'])
  const waiting = planGates({ clique: 'c', pods: gated, gang: own, base: base(2, 0) })
  assert.deepEqual(names(waiting), [])
  assert.match(waiting.waitsFor!, /PodClique b of the base PodGang gang has 0 of 1 pods scheduled/)
  const missing = planGates({
    clique: 'c',
    pods: gated,
    gang: own,
    base: { gang: undefined, cliqueNamed: () => undefined },
  })
  assert.deepEqual(names(missing), [])
})

test('ignores terminating pods and pods without the Grove gate', () => {
  const pods = [samplePod('free'), samplePod('terminating', { gated: true, terminating: true })]
  assert.deepEqual(planGates({ clique: 'c', pods, gang: undefined, base: undefined }), {
    release: [],
    waitsFor: undefined,
  })
})
