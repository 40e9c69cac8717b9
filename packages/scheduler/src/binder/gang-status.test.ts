// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Pod, PodGang } from '@grove/api'
import { memberPod, podGang } from '../testing/objects.ts'
import type { GangDecision } from '../types.ts'
import { bindingStatus, gangStatus, type Members, progressOf } from './gang-status.ts'
import { planRelease } from './release.ts'

const now = Date.UTC(2026, 0, 1)
const later = now + 60_000
const gang: PodGang = podGang('w-0', [
  { name: 'a', min: 2 },
  { name: 'b', min: 1 },
])
const explanation = { code: 'InsufficientCapacity', message: '3 cpu missing' }
const waits = { verdict: 'Unschedulable', explanation } as unknown as GangDecision
const fits = { verdict: 'Scheduled', placementScore: 0.5 } as unknown as GangDecision

function pod(clique: string, index: number, node?: string, phase = 'Pending', ready = false): Pod {
  const made = memberPod('w-0', clique, index, { cpu: '1' }, node ? { node } : {})
  const conditions = [
    ...(node
      ? [{ type: 'PodScheduled', status: 'True', lastTransitionTime: new Date(now).toISOString() }]
      : []),
    ...(ready ? [{ type: 'Ready', status: 'True' }] : []),
  ]
  return { ...made, status: { phase, conditions } } as Pod
}

function members(...pods: Pod[]): Members {
  return Map.groupBy(pods, ({ metadata }) => metadata.labels?.['grove.io/podclique'] ?? '')
}

const conditions = (status: PodGang['status']) =>
  Object.fromEntries(
    (status?.conditions ?? []).map(({ type, status, reason }) => [type, `${status}/${reason}`]),
  )

const statusOf = (of: PodGang, pods: Members, decision: GangDecision | undefined, at = now) =>
  gangStatus(of, progressOf(of, pods), decision, at)

describe('the status of a PodGang', () => {
  test('is Pending with the reason while nothing is bound', () => {
    const status = statusOf(gang, members(pod('a', 0), pod('a', 1), pod('b', 0)), waits)
    assert.equal(status.phase, 'Pending')
    assert.deepEqual(conditions(status), {
      Initialized: 'True/PodGangPodsCreated',
      Scheduled: 'False/InsufficientCapacity',
      Ready: 'False/PodsNotReady',
      Unhealthy: 'False/NotScheduled',
    })
  })

  test('becomes Starting before the first binding, then Scheduled, Running and Ready', () => {
    const unbound = members(pod('a', 0), pod('a', 1), pod('b', 0))
    const binding = bindingStatus(gang, progressOf(gang, unbound), 3, now)
    assert.equal(binding.phase, 'Starting')
    assert.equal(conditions(binding).Scheduled, 'False/Binding')
    const starting = { ...gang, status: binding }
    const bound = statusOf(
      starting,
      members(pod('a', 0, 'n'), pod('a', 1, 'n'), pod('b', 0, 'n')),
      fits,
      later,
    )
    assert.deepEqual([bound.phase, bound.placementScore], ['Starting', 0.5])
    assert.equal(conditions(bound).Scheduled, 'True/Bound')
    const running = ['a', 'a', 'b'].map((clique, at) => pod(clique, at, 'n', 'Running', true))
    const ready = statusOf({ ...gang, status: bound }, members(...running), undefined, later)
    assert.deepEqual([ready.phase, ready.placementScore], ['Running', 0.5])
    assert.equal(conditions(ready).Ready, 'True/PodsReady')
  })

  test('keeps the conditions of others and the time of what did not change', () => {
    const initialized = {
      type: 'Initialized',
      status: 'True',
      reason: 'x',
      message: '',
      lastTransitionTime: '2025-01-01T00:00:00Z',
    }
    const known = { ...gang, status: { phase: 'Pending', conditions: [initialized] } } as PodGang
    const first = statusOf(known, members(), waits)
    assert.deepEqual(first.conditions?.[0], initialized)
    assert.deepEqual(statusOf({ ...known, status: first }, members(), waits, later), first)
  })

  test('is Unhealthy and Pending when a gang that was scheduled has lost pods', () => {
    const scheduled = statusOf(gang, members(pod('a', 0, 'n'), pod('a', 1, 'n'), pod('b', 0, 'n')), fits)
    const known = { ...gang, status: { ...scheduled, phase: 'Running' as const } }
    const lost = statusOf(known, members(pod('a', 0, 'n'), pod('b', 0, 'n')), waits, later)
    assert.equal(lost.phase, 'Pending')
    assert.equal(conditions(lost).Unhealthy, 'True/BelowMinimum')
    assert.equal(conditions(lost).Scheduled, 'False/InsufficientCapacity')
    const gone = statusOf({ ...gang, status: lost }, members(), waits, later)
    assert.equal(gone.phase, 'Pending', 'all pods were deleted: the gang starts again')
    assert.equal(conditions(gone).Unhealthy, 'False/NotScheduled')
  })
})

describe('a gang that is bound in part', () => {
  const starting: PodGang = {
    ...gang,
    status: bindingStatus(gang, progressOf(gang, members()), 3, now),
  }
  const bound = [pod('a', 0, 'n')]
  const release = (of: PodGang, pods: Pod[], decision: GangDecision, at: number) => {
    const plan = planRelease(of, pods, progressOf(of, members(...pods)), decision, 30_000, at)
    return [plan.pods.length, plan.deadline]
  }

  test('is completed while the rest fits and the time-out has not passed', () => {
    assert.deepEqual(release(starting, bound, fits, now), [0, now + 30_000])
  })
  test('is released when the rest does not fit', () => {
    assert.deepEqual(release(starting, bound, waits, now), [1, undefined])
  })
  test('is released after the time-out, even if the rest fits', () => {
    assert.deepEqual(release(starting, bound, fits, now + 30_000), [1, undefined])
  })
  test('keeps pods that are ready', () => {
    assert.deepEqual(release(starting, [pod('a', 0, 'n', 'Running', true)], waits, now), [0, undefined])
  })
  test('is released if a binding arrives after the next leader has reported that the gang waits', () => {
    const reported = { ...gang, status: statusOf(gang, members(), waits) }
    assert.deepEqual(release(reported, bound, waits, now), [1, undefined])
  })
  test('keeps its pods if the PodGang was recreated: nothing is known about its history', () => {
    assert.deepEqual(release(gang, bound, waits, now), [0, undefined])
    assert.equal(conditions(statusOf(gang, members(...bound), waits)).Unhealthy, 'True/BelowMinimum')
  })
  test('keeps its pods if it was scheduled before, also while lost pods are bound again', () => {
    const scheduled = statusOf(gang, members(pod('a', 0, 'n'), pod('a', 1, 'n'), pod('b', 0, 'n')), fits)
    assert.deepEqual(release({ ...gang, status: scheduled }, bound, waits, now), [0, undefined])
    const before = { ...gang, status: scheduled }
    const repair = bindingStatus(before, progressOf(before, members(...bound)), 2, now)
    assert.equal(repair.phase, 'Pending')
    assert.deepEqual(release({ ...gang, status: repair }, bound, waits, now), [0, undefined])
  })
  test('is released after a total loss like a gang that starts for the first time', () => {
    const scheduled = statusOf(gang, members(pod('a', 0, 'n'), pod('a', 1, 'n'), pod('b', 0, 'n')), fits)
    const lost = statusOf({ ...gang, status: scheduled }, members(pod('a', 0, 'n')), waits)
    const gone = { ...gang, status: statusOf({ ...gang, status: lost }, members(), waits) }
    const again = { ...gang, status: bindingStatus(gone, progressOf(gone, members()), 3, now) }
    assert.deepEqual(release(again, bound, waits, now), [1, undefined])
  })
})
