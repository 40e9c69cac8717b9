// SPDX-License-Identifier: Apache-2.0

// Tests the intents of a clique for a snapshot and a time.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { defaultConfiguration, label, type PodCliqueStatus } from '@grove/api'
import { CodedError } from '../errors/coded-error.ts'
import { standaloneCliques } from '../layout/layout.ts'
import type { StoredClique, StoredPod, StoredSet } from '../layout/stored.ts'
import { podClique } from '../objects/clique.ts'
import { revisionOf } from '../revision/set-revision.ts'
import { schedulerBackends } from '../schedulers/registry.ts'
import { clique, type PodShape, samplePod, sampleSet } from '../testing/sample-set.ts'
import { planCliqueUpdate } from '../update/clique-update.ts'
import type { CliqueSnapshot } from './observe.ts'
import { podCreations, podDeletions, replacement, scaleOf } from './plan.ts'

const now = Date.UTC(2030, 0, 2)
const backends = schedulerBackends(['default-scheduler'], 'default-scheduler')

/** A standalone clique of three pods whose replica is being updated. */
function snapshot(pods: readonly PodShape[], more: Partial<CliqueSnapshot> = {}): CliqueSnapshot {
  const plain = sampleSet({ cliques: [clique('web', { replicas: 3, minAvailable: 1 })] })
  const { generationHash, templateHashes } = revisionOf(plain)
  const set: StoredSet = {
    ...plain,
    status: {
      availableReplicas: 1,
      updatedReplicas: 0,
      currentGenerationHash: generationHash,
      updateProgress: {
        updateStartedAt: '2030-01-01T00:00:00Z',
        currentlyUpdating: [{ replicaIndex: 0 }],
      },
    },
  }
  const [instance] = standaloneCliques(set, 0)
  const built = podClique(set, instance!, set, templateHashes.web!)
  const status: PodCliqueStatus = {
    readyReplicas: 3,
    updatedReplicas: 0,
    scheduleGatedReplicas: 0,
    scheduledReplicas: pods.length,
  }
  const stored: StoredClique = {
    ...built,
    metadata: { ...built.metadata, namespace: 'serving', uid: 'clique-uid', resourceVersion: '1' },
    status,
  }
  return {
    set,
    clique: stored,
    instance: instance!,
    pods: pods.map((shape, at) => samplePod(`p${at}`, { index: at, ...shape }) as StoredPod),
    gang: undefined,
    base: undefined,
    isWanted: true,
    isBeingRemoved: false,
    hasFollowers: false,
    scheduler: { name: 'default-scheduler', backend: backends.find('default-scheduler') },
    configuration: defaultConfiguration(),
    waiterImage: undefined,
    ...more,
  }
}

const newHash = (given: CliqueSnapshot) => given.clique.metadata.labels?.[label.podTemplateHash] ?? ''
/** The next update step that is planned for the snapshot. */
const step = (given: CliqueSnapshot) =>
  replacement(given, planCliqueUpdate(given.set, given.clique, given.instance, given.pods, now))
const outline = (steps: ReturnType<typeof replacement>) =>
  steps.map(intents =>
    intents.map(intent => (intent.kind === 'delete' ? `delete ${intent.object.metadata.name}` : intent.kind)),
  )

describe('an update', () => {
  test('records a ready pod in the status before it deletes the pod', () => {
    const steps = step(snapshot([{ hash: 'z1-old' }, { hash: 'z1-old' }, { hash: 'z1-old' }]))
    assert.deepEqual(outline(steps), [['writeStatus'], ['delete p0']])
    const [[write] = []] = steps
    assert.ok(write?.kind === 'writeStatus')
    const { updateProgress, scheduledReplicas } = write.status as PodCliqueStatus
    assert.equal(updateProgress?.readyPodsSelectedToUpdate?.current, 'p0')
    assert.equal(scheduledReplicas, 2)
  })

  test('deletes outdated pods that are not ready at once, without a status write while others are scheduled', () => {
    const steps = step(
      snapshot([{ hash: 'z1-old', ready: false }, { hash: 'z1-old', ready: false }, { hash: 'z1-old' }]),
    )
    assert.deepEqual(outline(steps), [['delete p0', 'delete p1']])
  })

  test('first writes a scheduled count of zero if no other pod is scheduled', () => {
    const old = { hash: 'z1-old', ready: false }
    assert.deepEqual(outline(step(snapshot([old, old, old]))), [
      ['writeStatus'],
      ['delete p0', 'delete p1', 'delete p2'],
    ])
  })

  test('deletes nothing while another replica is being updated', () => {
    const given = snapshot([{ hash: 'z1-old' }])
    const { updateProgress: _, ...status } = given.set.status!
    assert.deepEqual(step({ ...given, set: { ...given.set, status } }), [])
  })
})

describe('pods', () => {
  test('are created for the free indexes, and inherit the failure count of the pods that they replace', () => {
    const empty = snapshot([])
    const hash = newHash(empty)
    const given = snapshot([{ hash }, { hash, phase: 'Failed', failures: 4 }])
    const intents = podCreations(given, scaleOf(given, now))
    assert.deepEqual(
      intents.map(({ object }) => [object.spec?.hostname, object.metadata.annotations]),
      [
        ['w-0-web-1', { 'grove.io/consecutive-failures': '1' }],
        ['w-0-web-2', undefined],
      ],
    )
  })

  test('are not created for a scheduler that is not enabled', () => {
    const given = snapshot([], { scheduler: { name: 'volcano', backend: undefined } })
    assert.throws(() => podCreations(given, scaleOf(given, now)), { code: 'ERR_BUILD_POD_RESOURCE' })
  })

  test('are deleted with the error code and events of a deletion', () => {
    const { clique: owner, pods } = snapshot([{}])
    const [intent] = podDeletions(owner, pods)
    const error = intent?.error?.(new Error('no'))
    assert.ok(error instanceof CodedError)
    assert.equal(error.code, 'ERR_DELETE_POD')
    assert.equal(intent?.report?.about, owner)
  })
})
