// SPDX-License-Identifier: Apache-2.0

// Tests the writes of a set to itself, for a snapshot and a time.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { defaultConfiguration, finalizer, type LastError, setErrorCode } from '@grove/api'
import { eachReplica } from '../layout/layout.ts'
import type { StoredSet } from '../layout/stored.ts'
import { revisionOf } from '../revision/set-revision.ts'
import { clique, sampleSet } from '../testing/sample-set.ts'
import { replicaState } from '../update/replica-state.ts'
import type { SetSnapshot } from './observe.ts'
import { announcement, finalizerOf, planStatus, type StatusOptions } from './plan.ts'

const now = '2030-01-01T00:00:00Z'
const plain = sampleSet({ replicas: 2, cliques: [clique('web')] })
const { generationHash } = revisionOf(plain)
const ofGang: LastError = { code: setErrorCode.applyPodGang, description: 'no', observedAt: now }

function snapshot(set: StoredSet): SetSnapshot {
  const newReplica = (replica: number) =>
    replicaState(set, replica, revisionOf(set), {
      cliqueNamed: () => undefined,
      groupNamed: () => undefined,
      membersOf: () => [],
      hasOutdatedPods: () => false,
    })
  return {
    set,
    allReplicas: () => Array.from(eachReplica(set), newReplica),
    newReplica,
    existingReplicas: () => [],
    bindingNamed: () => undefined,
    areGangsComplete: () => true,
    gangs: () => [],
    obstacles: () => [],
    configuration: defaultConfiguration(),
  }
}

const options = (more: Partial<StatusOptions> = {}): StatusOptions => ({
  isAnnounced: true,
  isSynced: true,
  lastErrors: [],
  now,
  ...more,
})

describe('the status of a set', () => {
  const updating: StoredSet = {
    ...plain,
    status: {
      availableReplicas: 0,
      updatedReplicas: 0,
      currentGenerationHash: generationHash,
      updateProgress: { updateStartedAt: now },
    },
  }
  const updated = (more: Partial<StatusOptions>) =>
    planStatus(snapshot(updating), options(more)).status.updateProgress?.currentlyUpdating

  test('advances an update even if a gang of the set cannot be written', () => {
    assert.deepEqual(
      updated({ lastErrors: [ofGang] })?.map(({ replicaIndex }) => replicaIndex),
      [0],
    )
  })

  test('keeps an update unchanged while the children are not in sync', () => {
    assert.equal(updated({ isSynced: false, lastErrors: [ofGang] }), undefined)
  })

  test('sets observedGeneration only without errors', () => {
    const observed = (more: Partial<StatusOptions>) =>
      planStatus(snapshot(plain), options(more)).status.observedGeneration
    assert.equal(observed({}), 1)
    assert.equal(observed({ lastErrors: [ofGang] }), undefined)
    assert.equal(observed({ isSynced: false }), undefined)
  })

  test('names the first revision only if it was announced', () => {
    const named = (isAnnounced: boolean) =>
      planStatus(snapshot(plain), options({ isAnnounced })).status.currentGenerationHash
    assert.equal(named(true), generationHash)
    assert.equal(named(false), undefined)
  })
})

test('a set gets its finalizer once, and keeps those of other controllers', () => {
  const having = (...finalizers: string[]) => ({ ...plain, metadata: { ...plain.metadata, finalizers } })
  const [intent] = finalizerOf(having('theirs'))
  assert.ok(intent?.kind === 'patch')
  assert.deepEqual(intent.merge, {
    metadata: { resourceVersion: '1', finalizers: ['theirs', finalizer.podCliqueSet] },
  })
  assert.deepEqual(finalizerOf(having(finalizer.podCliqueSet)), [])
})

test('a new revision is announced together with its update; the first revision of a new set is not', () => {
  const witnesses = () => ({ cliques: [], gangNamed: () => undefined })
  assert.equal(announcement(plain, witnesses, now), undefined)
  const before = revisionOf(sampleSet({ replicas: 2, cliques: [clique('other')] })).generationHash
  const status = { availableReplicas: 2, updatedReplicas: 2, currentGenerationHash: before }
  const announced = announcement({ ...plain, status }, witnesses, now)
  assert.equal(announced?.currentGenerationHash, generationHash)
  assert.deepEqual(announced.updateProgress, { updateStartedAt: now })
})
