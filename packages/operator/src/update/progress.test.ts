// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { PodCliqueScalingGroupUpdateProgress, PodCliqueUpdateProgress } from '@grove/api'
import {
  announcedProgress,
  type ProgressInput,
  podProgress,
  replicaProgress,
  rollingProgress,
  withSelected,
} from './progress.ts'

const target = { generationHash: 'g2', podTemplateHash: 't2' }
const input = { target, isUnfinished: true, mayUpdate: true, now: 'now' }

describe('the progress of a clique', () => {
  const running: PodCliqueUpdateProgress = {
    updateStartedAt: 'then',
    podCliqueSetGenerationHash: 'g1',
    podTemplateHash: 't1',
    readyPodsSelectedToUpdate: { current: 'b', completed: ['a'], currentIndex: 3 },
  }
  const next = (given: Partial<ProgressInput<PodCliqueUpdateProgress>>) =>
    rollingProgress(podProgress, { ...input, before: running, ...given })
  const same = { generationHash: 'g1', podTemplateHash: 't1' }

  test('a new target starts a new update that waits for the pod that was replaced last', () => {
    assert.deepEqual(next({}), {
      updateStartedAt: 'now',
      podCliqueSetGenerationHash: 'g2',
      podTemplateHash: 't2',
      readyPodsSelectedToUpdate: { current: 'b', currentIndex: 3 },
    })
  })

  test('an update that has ended waits for no pod', () => {
    const { readyPodsSelectedToUpdate } = next({ before: { ...running, updateEndedAt: 'then' } })!
    assert.equal(readyPodsSelectedToUpdate, undefined)
  })

  test('another generation with the same pod template continues the update', () => {
    assert.equal(next({ target: { ...same, generationHash: 'g2' } }), running)
  })

  test('an update with the same target continues, and ends when no pod is outdated', () => {
    assert.equal(next({ target: same }), running)
    const { readyPodsSelectedToUpdate: _, ...rest } = running
    assert.deepEqual(next({ target: same, isUnfinished: false }), { ...rest, updateEndedAt: 'now' })
  })

  test('a target that is reached without a replacement is recorded', () => {
    const ended = { ...running, updateEndedAt: 'then' }
    assert.deepEqual(next({ before: ended, isUnfinished: false }), {
      ...ended,
      podCliqueSetGenerationHash: 'g2',
      podTemplateHash: 't2',
    })
  })

  test('keeps the status while the replica of the set is not selected', () => {
    assert.equal(next({ mayUpdate: false }), running)
    assert.equal(next({ before: undefined, mayUpdate: false }), undefined)
  })

  test('OnDelete starts and ends an update at the same time', () => {
    const { readyPodsSelectedToUpdate: _, ...rest } = running
    const announced = (given: Partial<ProgressInput<PodCliqueUpdateProgress>>) =>
      announcedProgress(podProgress, { ...input, before: undefined, ...given })
    assert.deepEqual(announced({}), {
      updateStartedAt: 'now',
      updateEndedAt: 'now',
      podCliqueSetGenerationHash: 'g2',
      podTemplateHash: 't2',
    })
    assert.equal(announced({ isUnfinished: false }), undefined)
    assert.deepEqual(announced({ before: running, target: same }), { ...rest, updateEndedAt: 'now' })
    assert.deepEqual(announced({ before: running, isUnfinished: false }), { ...rest, updateEndedAt: 'now' })
  })

  test('the pods that were replaced are kept with the selection', () => {
    const selected = withSelected(podProgress, running, { current: 'c', currentIndex: 2 })
    assert.deepEqual(selected.readyPodsSelectedToUpdate, {
      current: 'c',
      completed: ['a', 'b'],
      currentIndex: 2,
    })
    assert.deepEqual(withSelected(podProgress, running, { current: 'b', currentIndex: 3 }), running)
  })
})

describe('the progress of a scaling group', () => {
  const running: PodCliqueScalingGroupUpdateProgress = {
    updateStartedAt: 'then',
    podCliqueSetGenerationHash: 'g1',
    totalPodCliquesCount: 6,
    readyReplicaIndicesSelectedToUpdate: { current: 1, completed: [0] },
  }
  const next = (given: Partial<ProgressInput<PodCliqueScalingGroupUpdateProgress>>) =>
    rollingProgress(replicaProgress, { ...input, before: running, ...given })

  test('a new generation starts a new update that waits for the replica that was replaced last', () => {
    assert.deepEqual(next({}), {
      updateStartedAt: 'now',
      podCliqueSetGenerationHash: 'g2',
      readyReplicaIndicesSelectedToUpdate: { current: 1 },
    })
  })

  test('an update to the same generation continues, and keeps its counts when it ends', () => {
    const same = { generationHash: 'g1', podTemplateHash: '' }
    assert.equal(next({ target: same }), running)
    const { readyReplicaIndicesSelectedToUpdate: _, ...rest } = running
    assert.deepEqual(next({ target: same, isUnfinished: false }), { ...rest, updateEndedAt: 'now' })
  })

  test('does not wait for a replica that a scale-in removed', () => {
    assert.deepEqual(replicaProgress.selectedUnit({ current: 1 }, 2), { current: 1, currentIndex: 1 })
    assert.equal(replicaProgress.selectedUnit({ current: 2 }, 2), undefined)
  })

  test('replica 0 can be selected', () => {
    const before: PodCliqueScalingGroupUpdateProgress = {
      ...running,
      readyReplicaIndicesSelectedToUpdate: undefined,
    }
    const selected = withSelected(replicaProgress, before, { current: 0 })
    assert.deepEqual(selected.readyReplicaIndicesSelectedToUpdate, { current: 0 })
  })
})
