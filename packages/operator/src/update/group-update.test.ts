// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { label, type PodClique } from '@grove/api'
import { type GroupUpdateInput, planGroupUpdate } from './group-update.ts'

const revision = {
  generationHash: 'g',
  hashOf: () => 'new',
  isCurrent: (_: PodClique, hash: string) => hash === 'new',
}

/**
 * One letter per replica of one clique: `o` old and serving, `p` old and not, `n` new and serving, `s` new
 * and starting, ` ` none.
 */
function plan(states: string, given: Partial<GroupUpdateInput> = {}) {
  return planGroupUpdate({
    replicas: states.length,
    minAvailable: 1,
    cliqueCount: 1,
    cliques: [...states].flatMap((state, index) => (state === ' ' ? [] : [member(state, index)])),
    revision,
    hasOutdatedPods: () => true,
    selected: undefined,
    paused: false,
    stabilizesInMs: 0,
    ...given,
  })
}

function member(state: string, index: number): PodClique {
  const serves = state === 'o' || state === 'n'
  return {
    apiVersion: 'grove.io/v1alpha1',
    kind: 'PodClique',
    metadata: {
      name: `w-0-g-${index}-a`,
      labels: {
        [label.scalingGroupReplicaIndex]: String(index),
        [label.podTemplateHash]: state === 'o' || state === 'p' ? 'old' : 'new',
      },
    },
    spec: { roleName: 'a', replicas: 1, podSpec: { containers: [] } },
    status: {
      readyReplicas: serves ? 1 : 0,
      updatedReplicas: 0,
      scheduleGatedReplicas: 0,
      scheduledReplicas: 1,
      conditions: [
        { type: 'PodCliqueScheduled', status: 'True', reason: 'x', message: 'x', lastTransitionTime: '' },
      ],
    },
  }
}

const reason = (states: string, given: Partial<GroupUpdateInput> = {}) => {
  const next = plan(states, given)
  return next.kind === 'wait' ? next.because : next.kind
}

test('replicas that serve nobody go at once, all of them, when the template has settled', () => {
  assert.deepEqual(plan('opp'), { kind: 'discard', replicas: [1, 2] })
  assert.match(reason('opp', { stabilizesInMs: 900 }), /replicas 1, 2 are not available, until/)
})

test('serving ones go one by one, the lowest first', () => {
  assert.deepEqual(plan('noo'), { kind: 'replace', replica: 1 })
})

test('the next waits until the last serves again', () => {
  assert.equal(reason('soo', { selected: 0 }), 'replica 0 is not available again')
  assert.equal(reason(' oo', { selected: 0 }), 'replica 0 is not available again')
  assert.deepEqual(plan('noo', { selected: 0 }), { kind: 'replace', replica: 1 })
  assert.equal(reason('nns', { selected: 2 }), 'replica 2 is not available again')
  assert.equal(plan('nnn', { selected: 2 }).kind, 'finished')
  assert.equal(plan('nn', { selected: 2 }).kind, 'finished', 'scaled in meanwhile')
})

test('a replica that is starting for other reasons neither holds the update up nor lets it take more', () => {
  assert.deepEqual(plan('oos'), { kind: 'replace', replica: 0 })
  assert.match(reason('oos', { minAvailable: 2 }), /only 2 of 3 replicas are available, and 2 must stay so/)
  assert.match(reason('os', { minAvailable: 2 }), /only 1 of 2/)
})

test('a replica that was selected and never told to go is the next', () => {
  assert.deepEqual(plan('ooo', { selected: 2 }), { kind: 'replace', replica: 2 })
})

test('members whose pods OnDelete left behind are outdated, too', () => {
  const left = member('n', 0)
  const withPods = (status: Partial<typeof left.status>) => [
    {
      ...left,
      metadata: { ...left.metadata, generation: 2 },
      status: { ...left.status!, replicas: 1, observedGeneration: 2, ...status },
    },
  ]
  const replaced = { kind: 'replace', replica: 0 }
  assert.deepEqual(plan('n', { cliques: withPods({ currentPodTemplateHash: 'old' }) }), replaced)
  assert.deepEqual(
    plan('n', { cliques: withPods({}) }),
    replaced,
    'also where none was ever wholly of one template',
  )
  assert.equal(plan('n', { cliques: withPods({ observedGeneration: 1 }) }).kind, 'finished', 'not seen yet')
  assert.equal(plan('n', { cliques: withPods({ updatedReplicas: 1 }) }).kind, 'finished')
})

test('a paused update takes nothing', () => {
  assert.equal(reason('op', { paused: true }), 'the update is paused')
})

test('pods that OnDelete left behind are outdated, unless only a status tells of them', () => {
  const [one] = [...'n'].map(member)
  const left: PodClique = {
    ...one!,
    status: { ...one!.status!, replicas: 1, updatedReplicas: 0, currentPodTemplateHash: 'old' },
  }
  assert.deepEqual(plan('n', { cliques: [left] }), { kind: 'replace', replica: 0 })
  assert.deepEqual(plan('n', { cliques: [left], hasOutdatedPods: () => false }), { kind: 'finished' })
})
