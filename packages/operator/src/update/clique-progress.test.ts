// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PodCliqueUpdateProgress } from '@grove/api'
import { type CliqueProgressInput, cliqueProgress, select } from './clique-progress.ts'

const running: PodCliqueUpdateProgress = {
  updateStartedAt: 'then',
  podCliqueSetGenerationHash: 'g1',
  podTemplateHash: 't1',
  readyPodsSelectedToUpdate: { current: 'b', completed: ['a'], currentIndex: 3 },
}
const progress = (given: Partial<CliqueProgressInput>) =>
  cliqueProgress({
    before: running,
    generationHash: 'g2',
    podTemplateHash: 't2',
    unfinished: true,
    mayUpdate: true,
    onDelete: false,
    now: 'now',
    ...given,
  })

test('a new target begins anew, and does not forget what was taken down for the one before', () => {
  assert.deepEqual(progress({}), {
    updateStartedAt: 'now',
    podCliqueSetGenerationHash: 'g2',
    podTemplateHash: 't2',
    readyPodsSelectedToUpdate: { current: 'b', currentIndex: 3 },
  })
})

test('what an update that has ended took down is back', () => {
  const { readyPodsSelectedToUpdate } = progress({ before: { ...running, updateEndedAt: 'then' } })!
  assert.equal(readyPodsSelectedToUpdate, undefined)
})

test('an update to the same target goes on, and closes when nothing is left', () => {
  const same = { generationHash: 'g1', podTemplateHash: 't1' }
  assert.equal(progress(same), running)
  const { readyPodsSelectedToUpdate: _, ...rest } = running
  assert.deepEqual(progress({ ...same, unfinished: false }), { ...rest, updateEndedAt: 'now' })
})

test('out of turn nothing changes; with OnDelete beginning and end are one', () => {
  assert.equal(progress({ mayUpdate: false }), running)
  const { updateStartedAt, updateEndedAt } = progress({ before: undefined, onDelete: true })!
  assert.deepEqual([updateStartedAt, updateEndedAt], ['now', 'now'])
})

test('the next pod is written down beside those that are done', () => {
  assert.deepEqual(select(running.readyPodsSelectedToUpdate, 'c', 2), {
    current: 'c',
    completed: ['a', 'b'],
    currentIndex: 2,
  })
})
