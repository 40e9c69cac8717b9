// SPDX-License-Identifier: Apache-2.0

// Tests the pods and conditions of a gang while pods are created and deleted, compared with the pods that its scheduler
// sees.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Condition, label, type Pod, type PodClique, type PodGang } from '@grove/api'
import { basePodGang } from '../layout/layout.ts'
import { clique, group, samplePod, sampleSet } from '../testing/sample-set.ts'
import type { GangMembers } from './complete.ts'
import { planGang } from './plan.ts'
import { statusWith } from './status.ts'

/** Two routers with minAvailable 1, and a group of one replica with two workers with minAvailable 2. */
const set = sampleSet({
  cliques: [clique('router', { replicas: 2, minAvailable: 1 }), clique('work', { replicas: 2 })],
  groups: [group('eng', ['work'])],
})
const instance = basePodGang(set, 0)
const router = 'w-0-router'
const work = 'w-0-eng-0-work'

interface CliqueState {
  readonly pods: readonly (string | Pod)[]
  readonly replicas?: number
  readonly terminating?: boolean
}

/** Pods by clique. A pod that is given only by its name is as wanted. */
function membersOf(cliques: Readonly<Record<string, CliqueState>>, scaledAway: string[] = []): GangMembers {
  return {
    cliqueNamed: name => {
      const state = cliques[name]
      const metadata = { name, uid: `${name}-uid`, ...(state?.terminating && { deletionTimestamp: 'soon' }) }
      return state && ({ metadata, spec: { replicas: state.replicas ?? 2 } } as unknown as PodClique)
    },
    podsOf: ({ metadata }) =>
      (cliques[metadata.name!]?.pods ?? []).map(pod =>
        typeof pod === 'string' ? samplePod(pod, { labels: { [label.podGang]: 'w-0' } }) : pod,
      ),
    isScaledAway: ({ name }) => scaledAway.includes(name),
  }
}

const initialized = (status: 'True' | 'False', reason: string): Condition => ({
  type: 'Initialized',
  status,
  reason,
  message: '',
  lastTransitionTime: '2030-01-01T00:00:00Z',
})
const complete = initialized('True', 'PodGangPodsCreated')
const pending = initialized('False', 'PodGangPodsCreationPending')
const lost = initialized('False', 'PodGangPodsLost')

function gangAs(listed: Readonly<Record<string, string[]>>, condition?: Condition): PodGang {
  const { create } = plan(membersOf({}))
  return {
    ...create!,
    spec: {
      ...create!.spec,
      podgroups: create!.spec.podgroups.map(one => ({
        ...one,
        podReferences: (listed[one.name] ?? []).map(name => ({ namespace: 'serving', name })),
      })),
    },
    ...(condition && { status: { phase: 'Pending', conditions: [condition] } }),
  }
}

function plan(members: GangMembers, existing?: PodGang) {
  return planGang({ set, instance, existing, levels: [], schedulerName: 'default-scheduler', members })
}

/** Returns the pods that the gang lists after the plan was executed. */
function listedAfter({ create, patch }: ReturnType<typeof plan>, existing?: PodGang) {
  const spec = create?.spec ?? (patch?.spec as PodGang['spec'] | undefined)
  const groups = spec?.podgroups ?? existing!.spec.podgroups
  return Object.fromEntries(groups.map(one => [one.name, one.podReferences.map(({ name }) => name).join()]))
}

const whole = { [router]: { pods: ['r1', 'r0'] }, [work]: { pods: ['k0', 'k1'] } }

describe('a gang that was never complete', () => {
  const rows: [string, Record<string, CliqueState>, string | undefined][] = [
    ['its cliques do not exist', {}, `PodClique ${router} does not exist yet`],
    [
      'a clique is deleted',
      { ...whole, [work]: { pods: ['k0', 'k1'], terminating: true } },
      `PodClique ${work} does not exist yet`,
    ],
    [
      'a pod beyond the minimum is missing',
      { ...whole, [router]: { pods: ['r0'] } },
      `PodClique ${router} has 1 of 2 pods`,
    ],
    [
      'the clique was scaled meanwhile',
      { ...whole, [router]: { pods: ['r0', 'r1'], replicas: 3 } },
      `PodClique ${router} has 2 of 3 pods`,
    ],
    [
      'a pod is deleted',
      {
        ...whole,
        [work]: { pods: ['k0', samplePod('k1', { terminating: true, labels: { [label.podGang]: 'w-0' } })] },
      },
      `PodClique ${work} has 1 of 2 pods`,
    ],
    [
      'a pod has lost its label',
      { ...whole, [work]: { pods: ['k0', samplePod('k1')] } },
      `Pod k1 of PodClique ${work} is not labelled grove.io/podgang=w-0`,
    ],
    [
      'a pod is labelled for another gang',
      { ...whole, [work]: { pods: ['k0', samplePod('k1', { labels: { [label.podGang]: 'w-1' } })] } },
      `Pod k1 of PodClique ${work} is not labelled grove.io/podgang=w-0`,
    ],
    ['every pod exists', whole, undefined],
    ['there are more pods than wanted', { ...whole, [router]: { pods: ['r0', 'r1', 'r2'] } }, undefined],
  ]
  for (const [what, cliques, waitsFor] of rows)
    test(`${what}: ${waitsFor ? 'lists nothing' : 'lists all'}`, () => {
      for (const existing of [undefined, gangAs({}, pending)]) {
        const planned = plan(membersOf(cliques), existing)
        assert.equal(planned.isComplete, waitsFor === undefined)
        if (waitsFor) {
          assert.equal(planned.initialized.reason, 'PodGangPodsCreationPending')
          assert.equal(planned.initialized.message, waitsFor)
          assert.deepEqual(listedAfter(planned, existing), { [router]: '', [work]: '' })
        } else {
          assert.equal(planned.initialized.reason, 'PodGangPodsCreated')
          assert.equal(listedAfter(planned, existing)[work], 'k0,k1')
        }
      }
    })

  test('lists pods by name, sorted, whatever the order of the input', () => {
    assert.deepEqual(listedAfter(plan(membersOf(whole))), { [router]: 'r0,r1', [work]: 'k0,k1' })
  })
})

describe('a gang that was complete', () => {
  const before = { [router]: ['r0', 'r1'], [work]: ['k0', 'k1'] }
  const rows: [string, Record<string, CliqueState>, Record<string, string>, string | undefined][] = [
    ['nothing changed', whole, { [router]: 'r0,r1', [work]: 'k0,k1' }, undefined],
    [
      'a pod beyond the minimum is replaced',
      { ...whole, [router]: { pods: ['r0', 'r2'] } },
      { [router]: 'r0,r2', [work]: 'k0,k1' },
      undefined,
    ],
    [
      'a pod beyond the minimum is missing',
      { ...whole, [router]: { pods: ['r0'] } },
      { [router]: 'r0', [work]: 'k0,k1' },
      undefined,
    ],
    [
      'it is scaled out',
      { ...whole, [router]: { pods: ['r0', 'r1', 'r2'], replicas: 9 } },
      { [router]: 'r0,r1,r2', [work]: 'k0,k1' },
      undefined,
    ],
    [
      'a required pod is gone: pods that are created meanwhile wait for it',
      { [router]: { pods: ['r1', 'r2'] }, [work]: { pods: ['k0'] } },
      { [router]: 'r1', [work]: 'k0' },
      `PodClique ${work} has 1 of the 2 pods that it needs at least`,
    ],
    [
      'a user scaled a clique below its minimum',
      { [router]: { pods: ['r1', 'r2'] }, [work]: { pods: ['k0'], replicas: 1 } },
      { [router]: 'r1,r2', [work]: 'k0' },
      undefined,
    ],
    [
      'everything was terminated, and half of it is recreated',
      { [router]: { pods: ['r2', 'r3'] }, [work]: { pods: ['k2'] } },
      { [router]: '', [work]: '' },
      `PodClique ${work} has 1 of the 2 pods that it needs at least`,
    ],
    [
      'a clique is terminating, and its pods are not yet',
      { ...whole, [work]: { pods: ['k0', 'k1'], terminating: true } },
      { [router]: 'r0,r1', [work]: '' },
      `PodClique ${work} has 0 of the 2 pods that it needs at least`,
    ],
    [
      'its cliques are gone',
      {},
      { [router]: '', [work]: '' },
      `PodClique ${router} has 0 of the 1 pods that it needs at least`,
    ],
    [
      'everything is rebuilt',
      { [router]: { pods: ['r2'] }, [work]: { pods: ['k2', 'k3'] } },
      { [router]: 'r2', [work]: 'k2,k3' },
      undefined,
    ],
  ]
  for (const [what, cliques, listed, waitsFor] of rows)
    test(what, () => {
      for (const known of [complete, lost]) {
        const existing = gangAs(before, known)
        const planned = plan(membersOf(cliques), existing)
        assert.deepEqual(listedAfter(planned, existing), listed)
        assert.equal(planned.initialized.status, waitsFor ? 'False' : 'True')
        if (waitsFor) assert.equal(planned.initialized.reason, 'PodGangPodsLost')
        if (waitsFor) assert.equal(planned.initialized.message, waitsFor)
      }
    })

  test('does not wait for replicas that a user scaled away', () => {
    const cliques = { [router]: { pods: ['r0', 'r2'] } }
    for (const existing of [gangAs(before, complete), gangAs({}, pending)]) {
      const planned = plan(membersOf(cliques, [work]), existing)
      assert.equal(planned.isComplete, true)
      assert.deepEqual(listedAfter(planned, existing), { [router]: 'r0,r2', [work]: '' })
    }
  })

  test('is not patched when nothing changed', () => {
    assert.equal(plan(membersOf(whole), gangAs(before, complete)).patch, undefined)
  })

  test('keeps the reservation of another client, and the keys of the operator', () => {
    const existing = gangAs(before, complete)
    existing.spec.reuseReservationRef = { namespace: 'serving', name: 'earlier' }
    existing.metadata.labels = { ...existing.metadata.labels, 'grove.io/kept': 'yes', stray: 'yes' }
    assert.deepEqual(plan(membersOf(whole), existing).patch, { metadata: { labels: { stray: null } } })
  })
})

describe('the status of a gang', () => {
  const now = '2030-01-01T01:00:00Z'
  const { initialized: done } = plan(membersOf(whole))

  test('starts with a phase, and names its generation', () => {
    const gang = { ...gangAs({}), metadata: { name: 'w-0', generation: 7 } }
    assert.deepEqual(statusWith(gang, done, now), {
      phase: 'Pending',
      conditions: [{ ...done, observedGeneration: 7, lastTransitionTime: now }],
    })
  })

  test('leaves the phase and the conditions of the scheduler alone', () => {
    const scheduled: Condition = { ...complete, type: 'Scheduled', reason: 'Bound', message: 'all' }
    const gang = { ...gangAs({}), status: { phase: 'Running', conditions: [pending, scheduled] } } as PodGang
    const { phase, conditions } = statusWith(gang, done, now)
    assert.equal(phase, 'Running')
    assert.deepEqual(conditions?.[1], scheduled)
    assert.equal(conditions?.[0]?.status, 'True')
  })
})
