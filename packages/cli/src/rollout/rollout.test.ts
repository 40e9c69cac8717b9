// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { PodCliqueSet, PodCliqueSetStatus } from '@grove/api'
import { type EmbeddedCluster, startEmbedded } from '../testing/embedded-cluster.ts'
import { testRollout } from '../testing/rollout-commands.ts'
import { progressOf } from './status.ts'

describe('grove rollout on the embedded cluster', () => {
  let cluster: EmbeddedCluster

  before(async () => {
    cluster = await startEmbedded()
  })
  after(() => cluster?.stop())

  testRollout(
    () => cluster.kubeconfig,
    () => cluster.newNamespace(),
  )
})

describe('the rollout state from the status of a set', () => {
  const set = (status: Partial<PodCliqueSetStatus>, strategy?: 'OnDelete'): PodCliqueSet => ({
    apiVersion: 'grove.io/v1alpha1',
    kind: 'PodCliqueSet',
    metadata: { name: 'web', generation: 4 },
    spec: {
      replicas: 2,
      ...(strategy && { updateStrategy: { type: strategy } }),
      template: { cliques: [] },
    },
    status: { observedGeneration: 4, availableReplicas: 2, updatedReplicas: 1, ...status },
  })
  const running = { updateStartedAt: '2030-01-01T00:00:00Z', currentlyUpdating: [{ replicaIndex: 1 }] }
  const condition = (reason: string, message: string) => ({
    type: 'UpdateProgressing',
    status: 'True' as const,
    reason,
    message,
    lastTransitionTime: '2030-01-01T00:00:00Z',
  })

  const table: [string, PodCliqueSet, string, RegExp][] = [
    [
      'an edit that the operator has not observed yet',
      set({ observedGeneration: 3 }),
      'underway',
      /has not reconciled the newest spec/,
    ],
    [
      'a deadline of an update that a newer edit may have ended',
      set({
        observedGeneration: 3,
        updateProgress: running,
        conditions: [
          { ...condition('ProgressDeadlineExceeded', 'No replica in 60s'), observedGeneration: 3 },
        ],
      }),
      'underway',
      /has not reconciled the newest spec/,
    ],
    [
      'a started update is observed, but not reconciled completely',
      set({
        observedGeneration: 3,
        updateProgress: running,
        conditions: [{ ...condition('Waiting', 'Replica 1: pod x to become ready'), observedGeneration: 4 }],
      }),
      'underway',
      /Replica 1: pod x to become ready/,
    ],
    [
      'a replica that is being updated',
      set({ updateProgress: { ...running, updatedPodCliquesCount: 1, totalPodCliquesCount: 2 } }),
      'underway',
      /1 of 2 replicas are updated: updating replica 1, 1 of 2 cliques are updated/,
    ],
    [
      'the reason that the operator gives',
      set({
        updateProgress: running,
        conditions: [condition('Waiting', 'Replica 1: pod x to become ready')],
      }),
      'underway',
      /1 of 2 replicas are updated: Replica 1: pod x to become ready/,
    ],
    [
      'replicas that exist only during the update',
      set({
        updateProgress: { ...running, surgeReplicas: 1 },
        conditions: [condition('Replacing', 'Surge replica 2: PodClique w-2-a does not exist yet')],
      }),
      'underway',
      /1 of 2 replicas are updated, plus 1 surge replica: Surge replica 2: PodClique w-2-a does not exist yet/,
    ],
    [
      'a deadline that has passed',
      set({
        updateProgress: running,
        conditions: [condition('ProgressDeadlineExceeded', 'No replica in 60s')],
      }),
      'late',
      /exceeded its progress deadline: No replica in 60s/,
    ],
    ['OnDelete', set({}, 'OnDelete'), 'underway', /outdated pods are replaced after you delete them/],
    [
      'updated but not available',
      set({ updatedReplicas: 2, availableReplicas: 1 }),
      'underway',
      /1 of 2 updated replicas are available/,
    ],
    ['all of it', set({ updatedReplicas: 2 }), 'done', /successfully rolled out/],
  ]
  for (const [what, given, state, pattern] of table)
    it(what, () => {
      const progress = progressOf(given)
      assert.equal(progress.state, state)
      assert.match(progress.message, pattern)
    })
})
