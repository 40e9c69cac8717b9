// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod, PodCliqueStatus } from '@grove/api'
import type { StoredClique } from '../layout/stored.ts'
import type { OnTotalLoss } from '../state/breach-condition.ts'
import { findCondition } from '../state/conditions.ts'
import { samplePod } from '../testing/sample-set.ts'
import { planCliqueStatus } from './status.ts'

interface Shape {
  readonly pods: Pod[]
  readonly minAvailable?: number | undefined
  readonly replicas?: number
  readonly labels?: Record<string, string>
  readonly before?: Partial<PodCliqueStatus>
  readonly onTotalLoss?: OnTotalLoss
  readonly isLeaving?: boolean
  readonly paused?: boolean
  readonly now?: string
}

function plan({
  pods,
  replicas = 3,
  labels = {},
  before,
  onTotalLoss = 'Wait',
  isLeaving = false,
  paused = false,
  now = '2030-01-01T02:00:00Z',
  ...given
}: Shape) {
  const minAvailable = 'minAvailable' in given ? given.minAvailable : 2
  const clique: StoredClique = {
    apiVersion: 'grove.io/v1alpha1',
    kind: 'PodClique',
    metadata: {
      name: 'w-0-a',
      namespace: 'serving',
      uid: 'clique-uid',
      resourceVersion: '1',
      generation: 3,
      creationTimestamp: '2030-01-01T00:00:00Z',
      labels,
    },
    spec: {
      roleName: 'a',
      replicas,
      podSpec: { containers: [] },
      ...(minAvailable !== undefined && { minAvailable }),
    },
    ...(before && {
      status: {
        readyReplicas: 0,
        updatedReplicas: 0,
        scheduleGatedReplicas: 0,
        scheduledReplicas: 0,
        ...before,
      },
    }),
  }
  return planCliqueStatus({
    set: 'w',
    clique,
    pods,
    podTemplateHash: 'new',
    generationHash: 'generation-1',
    isCurrent: hash => hash === 'new',
    onTotalLoss,
    isLeaving,
    update: undefined,
    paused,
    now,
  })
}

function breachOf(shape: Shape): [string, string, string] {
  const condition = findCondition(plan(shape).status.conditions, 'MinAvailableBreached')!
  return [condition.status, condition.reason, condition.message]
}

const running = (count: number) =>
  Array.from({ length: count }, (_, index) => samplePod(`p-${index}`, { index }))
const pending = (count: number) =>
  Array.from({ length: count }, (_, index) => samplePod(`q-${index}`, { index, phase: 'Pending' }))

const crashed = samplePod('crashed', { ready: false, exitCode: 1 })
const ended = samplePod('ended', { ready: false, exitCode: 1, ended: true })
const unready = samplePod('unready', { ready: false, startedNotReady: true })
const starting = samplePod('starting', { ready: false })
const recovered = samplePod('recovered', { exitCode: 1 })
const updateRuns = {
  updateProgress: { podCliqueSetGenerationHash: 'g', podTemplateHash: 't', updateStartedAt: 'x' },
}
const wasScheduled = { conditions: plan({ pods: running(3) }).status.conditions! }

const below = (scheduled: number, minimum: number) =>
  [
    'True',
    'ScheduledReplicasBelowMinAvailable',
    `Scheduled replicas (${scheduled}) below MinAvailable (${minimum})`,
  ] as const
const tooFew = (found: number) =>
  [
    'True',
    'InsufficientReadyPods',
    `Insufficient ready or starting pods. expected at least: 2, found: ${found}`,
  ] as const
const enough = (found: number, minimum = 2) =>
  [
    'False',
    'SufficientReadyPods',
    `Either sufficient ready or starting pods found. expected at least: ${minimum}, found: ${found}`,
  ] as const
const suppressed = (message: string) => ['False', 'InsufficientScheduledPods', message] as const
const startUp = suppressed(
  'No replica has been scheduled yet. Gang termination is suppressed during start-up',
)
const lost = suppressed(
  'All scheduled replicas were lost. Gang termination is suppressed because recreating them would give the same pending pods',
)
const zero = suppressed('Scaled to zero. Gang termination is suppressed because no replica is wanted')

const updating = ['Unknown', 'UpdateInProgress', 'Update is in progress'] as const

const breaches: [what: string, shape: Shape, condition: readonly [string, string, string]][] = [
  ['no pod exists yet', { pods: [] }, startUp],
  ['no pod is scheduled yet', { pods: pending(3) }, startUp],
  ['never at start-up', { pods: pending(3), onTotalLoss: 'Recreate' }, startUp],
  ['all pods are lost', { pods: pending(3), before: wasScheduled }, lost],
  [
    'all pods are lost, and that counts as a breach',
    { pods: pending(3), before: wasScheduled, onTotalLoss: 'Recreate' },
    below(0, 2),
  ],
  ['zero replicas are wanted', { pods: [], replicas: 0, before: wasScheduled }, zero],
  ['scaled to zero', { pods: [], replicas: 0, before: wasScheduled, onTotalLoss: 'Recreate' }, zero],
  ['too few pods are scheduled', { pods: [...running(1), ...pending(2)] }, below(1, 2)],
  ['without minAvailable every pod counts', { pods: running(2), minAvailable: undefined }, below(2, 3)],
  ['enough pods are ready', { pods: running(2) }, enough(2)],
  ['enough pods may still start', { pods: [starting, starting, starting] }, enough(3)],
  ['one pod crashed and one is not ready', { pods: [...running(1), crashed, unready] }, tooFew(1)],
  ['one pod crashed and one is starting', { pods: [...running(1), crashed, starting] }, enough(2)],
  ['one pod failed and is not restarted', { pods: [...running(1), ended] }, tooFew(1)],
  ['a pod that crashed is ready again', { pods: [...running(1), recovered] }, enough(2)],
  [
    'a crashed pod that is terminating is not counted as lost',
    { pods: [...running(2), gone(crashed)] },
    enough(2),
  ],
  ['a failed pod does not count as starting', { pods: [...running(1), failed()] }, below(1, 2)],
  ['an update runs', { pods: [], before: updateRuns }, updating],
  [
    'during an update too few pods are scheduled',
    { pods: [...running(1), ...pending(2)], before: updateRuns },
    updating,
  ],
  [
    'during an update too few pods are ready',
    { pods: [...running(1), crashed, unready], before: updateRuns },
    updating,
  ],
  [
    'during an update all pods are lost',
    { pods: pending(3), before: { ...wasScheduled, ...updateRuns }, onTotalLoss: 'Recreate' },
    updating,
  ],
  [
    'during a paused update too few pods are scheduled',
    { pods: [...running(1), ...pending(2)], before: updateRuns, paused: true },
    below(1, 2),
  ],
  [
    'during a paused update too few pods are ready',
    { pods: [...running(1), crashed, unready], before: updateRuns, paused: true },
    tooFew(1),
  ],
  [
    'during a paused update enough pods are ready',
    { pods: running(2), before: updateRuns, paused: true },
    enough(2),
  ],
]
for (const [what, shape, condition] of breaches)
  test(`in breach: ${what}`, () => assert.deepEqual(breachOf(shape), condition))

function gone(pod: Pod): Pod {
  return { ...pod, metadata: { ...pod.metadata, deletionTimestamp: '2030-01-01T01:00:00Z' } }
}

function failed(): Pod {
  return samplePod('failed', { phase: 'Failed', scheduled: true })
}

const placements: [pods: Pod[], before: Partial<PodCliqueStatus>, condition: string][] = [
  [[], {}, 'False InsufficientScheduledPods Insufficient scheduled pods. expected at least: 2, found: 0'],
  [
    running(1),
    {},
    'False InsufficientScheduledPods Insufficient scheduled pods. expected at least: 2, found: 1',
  ],
  [
    running(2),
    {},
    'True SufficientScheduledPods Sufficient scheduled pods found. expected at least: 2, found: 2',
  ],
  [
    [crashed, unready, starting],
    {},
    'True SufficientScheduledPods Sufficient scheduled pods found. expected at least: 2, found: 3',
  ],
  [
    running(1),
    updateRuns,
    'False InsufficientScheduledPods Insufficient scheduled pods. expected at least: 2, found: 1',
  ],
]
for (const [pods, before, condition] of placements)
  test(`scheduled: ${condition}`, () => {
    const { status, reason, message } = findCondition(
      plan({ pods, before }).status.conditions,
      'PodCliqueScheduled',
    )!
    assert.equal(`${status} ${reason} ${message}`, condition)
  })

const counts: [what: string, pods: Pod[], counted: [number, number, number, number, number]][] = [
  ['no pods', [], [0, 0, 0, 0, 0]],
  ['ready pods', running(2), [2, 2, 2, 0, 2]],
  ['gated pods', [samplePod('g', { phase: 'Pending', gated: true })], [1, 0, 0, 1, 1]],
  ['pending pods', pending(2), [2, 0, 0, 0, 2]],
  ['outdated pods', [samplePod('o', { hash: 'old' })], [1, 1, 1, 0, 0]],
  ['crashed and starting pods', [crashed, starting], [2, 0, 2, 0, 2]],
  ['neither terminating nor finished pods', [...running(1), gone(running(1)[0]!), failed()], [1, 1, 1, 0, 1]],
  [
    'no pod that is deleted before it was scheduled',
    [gone(samplePod('g', { phase: 'Pending', gated: true }))],
    [0, 0, 0, 0, 0],
  ],
]
for (const [what, pods, counted] of counts)
  test(`counts ${what}`, () => {
    const { replicas, readyReplicas, scheduledReplicas, scheduleGatedReplicas, updatedReplicas } = plan({
      pods,
    }).status
    assert.deepEqual(
      [replicas, readyReplicas, scheduledReplicas, scheduleGatedReplicas, updatedReplicas],
      counted,
    )
  })

test('the first status has the selector for autoscalers; members of groups have none', () => {
  const selector = (labels: Record<string, string>) => plan({ pods: [], labels }).status.hpaPodSelector
  assert.equal(
    selector({}),
    'app.kubernetes.io/managed-by=grove-operator,app.kubernetes.io/part-of=w,grove.io/podclique=w-0-a',
  )
  assert.equal(selector({ 'grove.io/podcliquescalinggroup': 'w-0-g' }), undefined)
})

test('the first status reports the observed generation, before a pod is scheduled', () => {
  assert.equal(plan({ pods: [] }).status.observedGeneration, 3)
})

test('reports the loss of the last scheduled pod once, with its consequence', () => {
  const before = plan({ pods: running(3) }).status
  const loss = plan({ pods: pending(3), before })
  const lossEvents = (follows: string) => [
    {
      type: 'Warning',
      reason: 'AllScheduledReplicasLost',
      message: `All scheduled pods lost (was 3). ${follows}; investigate node availability or capacity.`,
    },
  ]
  assert.deepEqual(
    loss.events,
    lossEvents('Gang termination is suppressed while nothing of the PodClique is scheduled'),
  )
  assert.deepEqual(
    plan({ pods: pending(3), before, onTotalLoss: 'Recreate' }).events,
    lossEvents('Gang termination will fire after TerminationDelay if the PodClique stays below MinAvailable'),
  )
  assert.deepEqual(plan({ pods: pending(3), before: loss.status }).events, [])
  assert.deepEqual(plan({ pods: running(1), before }).events, [], 'one pod is left')
  assert.deepEqual(plan({ pods: [], replicas: 0, before }).events, [], 'zero replicas are wanted')
  assert.deepEqual(plan({ pods: [], isLeaving: true, before }).events, [], 'its replica is being deleted')
})

test('a clique has reached its revision when every pod has, ready or not', () => {
  const { status } = plan({ pods: [samplePod('a'), samplePod('b', { ready: false })] })
  assert.equal(status.currentPodTemplateHash, 'new')
  assert.equal(status.currentPodCliqueSetGenerationHash, 'generation-1')
  const mixed = plan({ pods: [samplePod('a'), samplePod('b', { hash: 'old' })] }).status
  assert.equal(mixed.currentPodTemplateHash, undefined)
})

test('the transition time of a condition changes only with its status', () => {
  const first = plan({ pods: running(1), now: '2030-01-01T00:00:00Z' }).status
  const later = plan({
    pods: running(3).slice(0, 1),
    minAvailable: 3,
    before: first,
    now: '2030-01-01T05:00:00Z',
  }).status
  assert.equal(
    findCondition(later.conditions, 'MinAvailableBreached')!.lastTransitionTime,
    '2030-01-01T00:00:00Z',
  )
  const recovered = plan({ pods: running(3), before: later, now: '2030-01-01T06:00:00Z' }).status
  assert.equal(
    findCondition(recovered.conditions, 'MinAvailableBreached')!.lastTransitionTime,
    '2030-01-01T06:00:00Z',
  )
})

test('a breach is no older than the state of its pods, because it may have ended while the operator was down', () => {
  const since = (pod: Pod, lastTransitionTime: string): Pod => ({
    ...pod,
    status: {
      ...pod.status,
      conditions: pod.status?.conditions?.map(one => ({ ...one, lastTransitionTime })),
    },
  })
  const breachAt = (reportedAt: string, ...pods: Pod[]) => {
    const { conditions = [] } = plan({ pods: [crashed, unready, ...running(1)], now: reportedAt }).status
    const { status } = plan({ pods: [...pods, ...running(1)], before: { conditions } })
    return findCondition(status.conditions, 'MinAvailableBreached')!.lastTransitionTime
  }
  const first = since(crashed, '2030-01-01T01:00:00Z')
  const second = since(unready, '2030-01-01T01:40:00Z')
  assert.equal(breachAt('2030-01-01T00:30:00Z', second, first), '2030-01-01T01:40:00Z')
  assert.equal(breachAt('2030-01-01T01:50:00Z', first, second), '2030-01-01T01:50:00Z')
  assert.equal(breachAt('2030-01-01T00:30:00Z', crashed, second), '2030-01-01T01:40:00Z')
  assert.equal(breachAt('2030-01-01T00:30:00Z', crashed, unready), '2030-01-01T00:30:00Z')
})

test('the plan for an unchanged clique changes nothing', () => {
  const once = plan({ pods: running(3), now: '2030-01-01T00:00:00Z' }).status
  assert.deepEqual(plan({ pods: running(3), before: once, now: '2030-01-01T09:00:00Z' }).status, once)
})

test('a clique whose scheduling is slow counts as never scheduled, however late its conditions are written', () => {
  const late = plan({ pods: running(1), now: '2030-01-01T09:00:00Z' }).status
  assert.equal(findCondition(late.conditions, 'EverScheduled'), undefined)
  const scheduled = plan({ pods: running(2), before: late, now: '2030-01-01T09:00:01Z' }).status
  assert.equal(findCondition(scheduled.conditions, 'EverScheduled')?.status, 'True')
  const lost = plan({ pods: running(1), before: scheduled, now: '2030-01-01T09:00:02Z' }).status
  assert.equal(findCondition(lost.conditions, 'EverScheduled')?.status, 'True')
})

test('a breach that starts in the future, by the clock of another operator, starts now', () => {
  const breachAt = (reportedAt: string, now: string) => {
    const before = plan({ pods: [...running(1), ...pending(2)], now: reportedAt }).status
    const { status } = plan({ pods: [...running(1), ...pending(2)], before, now })
    return findCondition(status.conditions, 'MinAvailableBreached')!.lastTransitionTime
  }
  assert.equal(breachAt('2030-01-01T09:00:00Z', '2030-01-01T02:00:00Z'), '2030-01-01T02:00:00Z')
  assert.equal(breachAt('2030-01-01T01:00:00Z', '2030-01-01T02:00:00Z'), '2030-01-01T01:00:00Z')
})

const created = '2030-01-01T01:59:58Z'
const finished = (index: number, failures: number, reason?: string) =>
  samplePod(`f-${index}`, { index, phase: 'Failed', failures, created, ...(reason && { reason }) })
const failing: [what: string, pods: Pod[], message: string | undefined][] = [
  ['all pods are ready', running(3), undefined],
  [
    'one pod is in back-off',
    [finished(1, 2)],
    'The pod with index 1 failed 3 times in a row, next attempt at 2030-01-01T02:00:02Z',
  ],
  [
    'several pods are in back-off, and the worst is named',
    [finished(0, 3), finished(1, 5, 'UnexpectedAdmissionError'), finished(2, 4)],
    'The pod with index 1 failed 6 times in a row (UnexpectedAdmissionError), next attempt at 2030-01-01T02:00:30Z. 3 pods of this PodClique fail',
  ],
  [
    'a long failure reason is truncated',
    [finished(1, 2, 'x'.repeat(5_000))],
    `The pod with index 1 failed 3 times in a row (${'x'.repeat(80)}), next attempt at 2030-01-01T02:00:02Z`,
  ],
  [
    'a succeeded pod is replaced, too',
    [samplePod('s', { index: 1, phase: 'Succeeded', failures: 2, created })],
    'The pod with index 1 failed 3 times in a row (Succeeded), next attempt at 2030-01-01T02:00:02Z',
  ],
  ['the replacement of one pod is due', [finished(0, 0)], undefined],
  [
    'a replacement is starting',
    [samplePod('p', { index: 2, ready: false, failures: 2 })],
    'The pod with index 2 failed 2 times in a row, and its replacement is not ready yet',
  ],
  ['a replacement is ready', [samplePod('p', { index: 2, failures: 7 })], undefined],
  ['one failure, replaced', [samplePod('p', { index: 2, ready: false, failures: 1 })], undefined],
  [
    'a failed pod of an earlier template',
    [samplePod('o', { phase: 'Failed', hash: 'old', failures: 4, created })],
    undefined,
  ],
]
for (const [what, pods, message] of failing)
  test(`pods that fail: ${what}`, () => {
    const condition = findCondition(plan({ pods }).status.conditions, 'PodsFailing')
    assert.equal(condition?.message, message)
    if (condition) assert.equal(`${condition.status} ${condition.reason}`, 'True BackOff')
  })

test('reports pods that failed and are ready again as recovered', () => {
  const before = plan({ pods: [finished(1, 2)] }).status
  const condition = findCondition(plan({ pods: running(3), before }).status.conditions, 'PodsFailing')
  assert.equal(`${condition?.status} ${condition?.reason}`, 'False Recovered')
})

test('a clique of the Go operator keeps that it was scheduled, also if its labels were taken over before its status', () => {
  const legacy = '58bf9fd547f78bb9b47c'
  const remembers = (label: string, currentPodTemplateHash: string) => {
    const conditions = [
      {
        type: 'PodCliqueScheduled',
        status: 'False' as const,
        reason: 'InsufficientScheduledPods',
        message: 'x',
        lastTransitionTime: '2030-01-01T01:00:00Z',
      },
    ]
    const labels = { 'grove.io/pod-template-hash': label }
    const { status } = plan({ pods: pending(3), labels, before: { conditions, currentPodTemplateHash } })
    return findCondition(status.conditions, 'EverScheduled') !== undefined
  }
  assert.equal(remembers(legacy, legacy), true)
  assert.equal(remembers('z1-cf3aa56b36dd17adf7ceae47', legacy), true)
  assert.equal(remembers('z1-cf3aa56b36dd17adf7ceae47', 'z1-cf3aa56b36dd17adf7ceae47'), false)
})
