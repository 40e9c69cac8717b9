// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { label, type PodClique } from '@grove/api'
import { replicaProgress } from './progress.ts'
import { type ReplicaUnitsInput, replicaUnits } from './replica-units.ts'
import { replicaTerms, unitUpdateCondition } from './unit-messages.ts'
import { planUnitUpdate } from './units.ts'

const revision = {
  generationHash: 'g',
  hashOf: () => 'new',
  isCurrent: (_: PodClique, hash: string) => hash === 'new',
}

interface Given extends Partial<ReplicaUnitsInput> {
  readonly minAvailable?: number
  readonly selected?: number
  readonly paused?: boolean
  readonly stableInMs?: number
}

/**
 * One letter per replica of one clique: `o` old and serving, `p` old and not serving, `n` new and serving, `s` new and
 * starting, ` ` none.
 */
function plan(states: string, given: Given = {}) {
  const { minAvailable = 1, selected, paused = false, stableInMs = 0, ...rest } = given
  const replicas = states.length
  const units = replicaUnits({
    replicas,
    cliqueCount: 1,
    cliques: [...states].flatMap((state, index) => (state === ' ' ? [] : [member(state, index)])),
    revision,
    hasOutdatedPods: () => true,
    ...rest,
  })
  const selection = selected === undefined ? undefined : { current: selected }
  return planUnitUpdate({
    replicas,
    minAvailable,
    units,
    selection: selection && replicaProgress.selectedUnit(selection, replicas),
    paused,
    stableInMs,
  })
}

/** The replicas that are replaced next, or the reason why none is. */
function planned(states: string, given: Given = {}) {
  const next = plan(states, given)
  if (next.kind === 'replace') return { replace: next.unit.id }
  if (next.kind === 'discard') return { discard: next.units.map(({ id }) => id) }
  return next.kind
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

const reason = (states: string, given: Given = {}) => {
  const next = plan(states, given)
  if (next.kind !== 'wait') return next.kind
  return unitUpdateCondition(next, states.length, replicaTerms)!.message.replace('waits: ', '')
}

test('replicas that do not serve are replaced at once, when the template is stable', () => {
  assert.deepEqual(planned('opp'), { discard: [1, 2] })
  assert.match(reason('opp', { stableInMs: 900 }), /replicas 1, 2 are not available, until/)
})

test('serving replicas are replaced one at a time, the lowest index first', () => {
  assert.deepEqual(planned('noo'), { replace: 1 })
})

test('the next replica waits until the last one serves again', () => {
  assert.equal(reason('soo', { selected: 0 }), 'replica 0 is not available again')
  assert.equal(reason(' oo', { selected: 0 }), 'replica 0 is not available again')
  assert.deepEqual(planned('noo', { selected: 0 }), { replace: 1 })
  assert.equal(reason('nns', { selected: 2 }), 'replica 2 is not available again')
  assert.equal(plan('nnn', { selected: 2 }).kind, 'finished')
  assert.equal(plan('nn', { selected: 2 }).kind, 'finished', 'scaled in meanwhile')
})

test('a replica that starts for another reason neither stops the update nor increases its budget', () => {
  assert.deepEqual(planned('oos'), { replace: 0 })
  assert.match(reason('oos', { minAvailable: 2 }), /only 2 of 3 replicas are available, and 2 must stay so/)
  assert.match(reason('os', { minAvailable: 2 }), /only 1 of 2/)
})

test('a replica that was selected and not deleted is selected again', () => {
  assert.deepEqual(planned('ooo', { selected: 2 }), { replace: 2 })
})

test('members with pods that OnDelete left behind are outdated', () => {
  const left = member('n', 0)
  const withPods = (status: Partial<typeof left.status>) => [
    {
      ...left,
      metadata: { ...left.metadata, generation: 2 },
      status: { ...left.status!, replicas: 1, observedGeneration: 2, ...status },
    },
  ]
  const replaced = { replace: 0 }
  assert.deepEqual(planned('n', { cliques: withPods({ currentPodTemplateHash: 'old' }) }), replaced)
  assert.deepEqual(
    planned('n', { cliques: withPods({}) }),
    replaced,
    'also if no member ever had only one template',
  )
  assert.equal(
    plan('n', { cliques: withPods({ observedGeneration: 1 }) }).kind,
    'finished',
    'the status is outdated',
  )
  assert.equal(plan('n', { cliques: withPods({ updatedReplicas: 1 }) }).kind, 'finished')
})

test('a paused update replaces nothing', () => {
  assert.equal(reason('op', { paused: true }), 'the update is paused')
})

test('pods that OnDelete left behind are outdated, unless only a status counts them', () => {
  const [one] = [...'n'].map(member)
  const left: PodClique = {
    ...one!,
    status: { ...one!.status!, replicas: 1, updatedReplicas: 0, currentPodTemplateHash: 'old' },
  }
  assert.deepEqual(planned('n', { cliques: [left] }), { replace: 0 })
  assert.equal(planned('n', { cliques: [left], hasOutdatedPods: () => false }), 'finished')
})
