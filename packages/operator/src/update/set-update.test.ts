// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type Condition,
  label,
  type PodClique,
  type PodCliqueSetUpdateProgress,
  type PodCliqueSetUpdateStrategy,
} from '@grove/api'
import { eachReplica } from '../layout/layout.ts'
import type { StoredSet } from '../layout/stored.ts'
import { revisionOf } from '../revision/set-revision.ts'
import { clique, sampleSet } from '../testing/sample-set.ts'
import { replicaState } from './replica-state.ts'
import { isHeldBack, mayUpdate, stableInMs } from './set-progress.ts'
import { planSetUpdate, statusForRevision } from './set-update.ts'

const start = '2030-01-01T00:00:00Z'
const after = (seconds: number) => new Date(Date.parse(start) + seconds * 1000).toISOString()

/**
 * The state of one replica: `.` outdated and serving, `-` outdated and not serving, `0` nothing scheduled, `x` done,
 * `?` updated, not ready, `!` done by its status, which is older than some of its pods.
 */
type Replica = '.' | '-' | '0' | 'x' | '?' | '!'

function setOf(
  replicas: string,
  strategy: PodCliqueSetUpdateStrategy,
  progress: PodCliqueSetUpdateProgress,
  conditions: Condition[] = [],
): StoredSet {
  const set = sampleSet({ replicas: replicas.length, cliques: [clique('a')] })
  return {
    ...set,
    spec: { ...set.spec, updateStrategy: strategy },
    status: {
      availableReplicas: 0,
      updatedReplicas: 0,
      currentGenerationHash: revisionOf(set).generationHash,
      conditions,
      updateProgress: progress,
    },
  }
}

interface Shape {
  readonly replicas: string
  /** Surge replicas during the update. */
  readonly surge?: string
  readonly current?: readonly number[]
  readonly strategy?: PodCliqueSetUpdateStrategy
  readonly conditions?: Condition[]
  readonly now?: string
}

function plan({ replicas, surge = '', current = [], strategy = {}, conditions, now = start }: Shape) {
  const currentlyUpdating = current.map(replicaIndex => ({ replicaIndex, updateStartedAt: start }))
  const set = setOf(
    replicas,
    strategy,
    {
      updateStartedAt: start,
      ...(current.length && { currentlyUpdating }),
      ...(surge && { surgeReplicas: surge.length }),
    },
    conditions,
  )
  const { generationHash, templateHashes } = revisionOf(set)
  const cliqueNamed = (name: string): PodClique | undefined => {
    const state = [...replicas, ...surge][Number(name.split('-')[1])] as Replica | undefined
    if (state === undefined) return undefined
    const isNew = state === 'x' || state === '?' || state === '!'
    const hash = isNew ? templateHashes.a! : 'old'
    return {
      apiVersion: 'grove.io/v1alpha1',
      kind: 'PodClique',
      metadata: {
        name,
        labels: {
          [label.partOf]: 'w',
          [label.setReplicaIndex]: name.split('-')[1]!,
          [label.podTemplateHash]: templateHashes.a!,
        },
      },
      spec: { roleName: 'a', replicas: 1, minAvailable: 1, podSpec: { containers: [] } },
      status: {
        replicas: 1,
        readyReplicas: ['.', 'x', '!'].includes(state) ? 1 : 0,
        scheduledReplicas: state === '0' ? 0 : 1,
        scheduleGatedReplicas: 0,
        updatedReplicas: isNew && state !== '!' ? 1 : 0,
        currentPodTemplateHash: hash,
        ...(isNew && { currentPodCliqueSetGenerationHash: generationHash }),
      },
    }
  }
  const children = {
    cliqueNamed,
    groupNamed: () => undefined,
    membersOf: () => [],
    hasOutdatedPods: (one: PodClique) => one.status?.updatedReplicas === 0,
  }
  const stateOf = (replica: number) => replicaState(set, replica, revisionOf(set), children)
  return planSetUpdate({
    set,
    states: Array.from(eachReplica(set), stateOf),
    newState: stateOf,
    now,
  })
}

const chosen = (shape: Shape) =>
  plan(shape).progress?.currentlyUpdating?.map(({ replicaIndex }) => replicaIndex)

/** The status with the revision of a set, five seconds after the start. */
const announced = (set: StoredSet, isCurrent: boolean) =>
  statusForRevision({
    set,
    generationHash: revisionOf(set).generationHash,
    isCurrentGeneration: () => isCurrent,
    hasStrays: false,
    now: after(5),
  })

test('updates one replica after the other, the lowest first', () => {
  assert.deepEqual(chosen({ replicas: '...' }), [0])
  assert.equal(plan({ replicas: '...', current: [0] }).progress, undefined, 'the first is not done')
  assert.equal(plan({ replicas: '?..', current: [0] }).progress, undefined, 'it has not recovered')
  assert.deepEqual(chosen({ replicas: 'x..', current: [0] }), [1])
})

test('updates replicas without scheduled pods first, then replicas that do not serve', () => {
  assert.deepEqual(chosen({ replicas: '..-0' }), [3])
  assert.deepEqual(chosen({ replicas: '..-x' }), [2])
})

test('an update ends when every replica is done, and at once if there are none', () => {
  assert.ok(plan({ replicas: 'xx', current: [1] }).progress?.updateEndedAt)
  assert.equal(plan({ replicas: 'xx', current: [1] }).progress?.currentlyUpdating, undefined)
  assert.ok(plan({ replicas: '' }).progress?.updateEndedAt)
  assert.equal(plan({ replicas: 'xx', current: [1] }).condition?.reason, 'UpdateComplete')
})

test('a reverted template is not reached while pods of the other one exist', () => {
  assert.deepEqual(chosen({ replicas: 'x!' }), [1])
  assert.equal(plan({ replicas: 'x!', current: [1] }).progress, undefined, 'the same replica stays selected')
})

test('does not wait for a replica that a scale-in removed', () => {
  assert.deepEqual(chosen({ replicas: '..', current: [4] }), [0])
})

test('with a budget updates several replicas at the same time', () => {
  const strategy = { maxUnavailable: 2 }
  assert.deepEqual(chosen({ replicas: '....', strategy }), [0, 1])
  assert.deepEqual(chosen({ replicas: '.x..', strategy, current: [0, 1] }), [0, 2])
  assert.equal(
    plan({ replicas: '....', current: [0, 1] }).progress,
    undefined,
    'lowered meanwhile: none more',
  )
})

test('a paused update starts nothing, and does not end', () => {
  const strategy = { paused: true }
  const { progress, condition } = plan({ replicas: '..', strategy })
  assert.equal(progress, undefined)
  assert.deepEqual([condition?.status, condition?.reason], ['Unknown', 'Paused'])
})

test('skips replicas below the partition, and does not end while they are outdated', () => {
  const strategy = { partition: 1 }
  assert.deepEqual(chosen({ replicas: '..', strategy }), [1])
  const { progress, condition } = plan({ replicas: '.x', strategy, current: [1] })
  assert.equal(progress?.updateEndedAt, undefined)
  assert.deepEqual([condition?.status, condition?.reason], ['False', 'Partitioned'])
  assert.match(condition!.message, /Replicas 0 /)
  assert.ok(
    plan({ replicas: 'xx', strategy, current: [1] }).progress?.updateEndedAt,
    'no replica is held back',
  )
})

test('selects no replica between an edit and the record of the update', () => {
  const progress = { updateStartedAt: start, currentlyUpdating: [{ replicaIndex: 1 }] }
  const set = setOf('..', {}, progress)
  assert.deepEqual([mayUpdate(set, 0), mayUpdate(set, 1)], [false, true])
  const announcedBefore = { ...set, status: { ...set.status!, currentGenerationHash: 'z1-of-before' } }
  assert.equal(mayUpdate(announcedBefore, 1), false)
})

test('ends a running update when its strategy becomes OnDelete', () => {
  const progress = { updateStartedAt: start, currentlyUpdating: [{ replicaIndex: 1 }] }
  const set = setOf('..', { type: 'OnDelete' }, progress)
  const status = announced(set, true)
  assert.deepEqual(status?.updateProgress, { updateStartedAt: start, updateEndedAt: after(5) })
})

test('holds back outdated replicas while the update is paused or partitioned', () => {
  const progress = { updateStartedAt: start, currentlyUpdating: [{ replicaIndex: 2 }] }
  const held = (strategy: PodCliqueSetUpdateStrategy, over = progress) =>
    [0, 1, 2].filter(replica => isHeldBack(setOf('...', strategy, over), replica))
  assert.deepEqual(held({}), [])
  assert.deepEqual(held({ partition: 1 }), [0])
  assert.deepEqual(held({ paused: true }), [0, 1])
  assert.deepEqual(held({ type: 'OnDelete', paused: true }), [])
  assert.deepEqual(held({ paused: true }, { ...progress, updateEndedAt: start } as typeof progress), [])
})

test('records a surge replica before it is created, and reports it while it is not ready', () => {
  const strategy = { maxUnavailable: 0, maxSurge: 1 }
  const { progress, condition } = plan({ replicas: '..', strategy })
  assert.equal(progress?.surgeReplicas, 1)
  assert.deepEqual(progress?.currentlyUpdating, [{ replicaIndex: 2, updateStartedAt: start }])
  assert.equal(condition?.message, 'Surge replica 2: PodClique w-2-a does not exist yet')
})

test('reports a surge replica that fails if it blocks the update of others', () => {
  const strategy = { maxUnavailable: 0, maxSurge: 1, progressDeadlineSeconds: 60 }
  const { progress, condition, deadline } = plan({ replicas: 'x.', surge: '?', strategy })
  assert.equal(progress, undefined)
  assert.deepEqual([condition?.reason, deadline], ['Replacing', undefined])
  assert.match(condition!.message, /^Surge replica 2: PodClique w-2-a: /)
})

test('an update ends together with its surge replicas', () => {
  const strategy = { maxUnavailable: 0, maxSurge: 1 }
  const { progress } = plan({ replicas: 'xx', surge: '?', current: [1, 2], strategy })
  assert.ok(progress?.updateEndedAt)
  assert.deepEqual([progress.surgeReplicas, progress.currentlyUpdating], [undefined, undefined])
})

test('a change during an update keeps the selected replicas and the surge replicas', () => {
  const before = { updateStartedAt: start, currentlyUpdating: [{ replicaIndex: 1 }], surgeReplicas: 1 }
  const announce = (strategy: PodCliqueSetUpdateStrategy, progress: PodCliqueSetUpdateProgress) => {
    const set = setOf('..', strategy, progress)
    const old = { ...set, status: { ...set.status!, currentGenerationHash: 'z1-of-before' } }
    return announced(old, false)?.updateProgress
  }
  assert.deepEqual(announce({ maxSurge: 1 }, before), { ...before, updateStartedAt: after(5) })
  const ended = { ...before, updateEndedAt: start }
  assert.deepEqual(announce({ maxSurge: 1 }, ended), { updateStartedAt: after(5) })
  const onDelete = { updateStartedAt: after(5), updateEndedAt: after(5) }
  assert.deepEqual(announce({ type: 'OnDelete', maxSurge: 1 }, before), onDelete)
})

const said = (status: Condition['status'], at: string): Condition[] => [
  { type: 'UpdateProgressing', status, reason: 'x', message: 'x', lastTransitionTime: at },
]

test('the deadline starts with the oldest selected replica', () => {
  const shape = { replicas: '?.', current: [0], strategy: { progressDeadlineSeconds: 60 } }
  const before = plan({ ...shape, conditions: said('True', start), now: after(59) })
  assert.deepEqual([before.condition?.status, before.deadline], ['True', Date.parse(after(60))])
  const late = plan({ ...shape, conditions: said('True', start), now: after(60) })
  assert.deepEqual([late.condition?.reason, late.deadline], ['ProgressDeadlineExceeded', undefined])
  const still = plan({ ...shape, conditions: said('False', after(60)), now: after(61) })
  assert.equal(still.condition?.reason, 'ProgressDeadlineExceeded', 'until a replica is done')
})

test('the time of a pause does not count', () => {
  const shape = { replicas: '?.', current: [0], strategy: { progressDeadlineSeconds: 60 } }
  const resumed = plan({ ...shape, conditions: said('Unknown', start), now: after(1000) })
  assert.deepEqual([resumed.condition?.status, resumed.deadline], ['True', Date.parse(after(1060))])
})

test('reports the reason for waiting', () => {
  const { condition } = plan({ replicas: '?.', current: [0] })
  assert.equal(condition?.message, 'Replica 0: PodClique w-0-a: 1 of 1 pods are updated, 0 ready')
})

test('waits until a template is stable for three seconds; a clock that was set back causes no wait', () => {
  const set = setOf('.', {}, { updateStartedAt: start })
  const at = (seconds: number) => stableInMs(set, Date.parse(after(seconds)))
  assert.deepEqual([at(0), at(1), at(3), at(-3600)], [3000, 2000, 0, 0])
})
