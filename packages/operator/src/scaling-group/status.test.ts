// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type Condition,
  gangTerminationInProgress,
  label,
  type PodClique,
  type PodCliqueScalingGroupStatus,
} from '@grove/api'
import type { StoredScalingGroup } from '../layout/stored.ts'
import type { OnTotalLoss } from '../state/breach-condition.ts'
import { findCondition } from '../state/conditions.ts'
import { planGroupStatus } from './status.ts'

const revision = {
  generationHash: 'g',
  hashOf: () => 'new',
  isCurrent: (_: PodClique, hash: string) => hash === 'new',
}

interface Shape {
  /**
   * One group of letters per replica, one letter for each of its cliques `a` and `b`: `r` is available, `s` is
   * starting, `b` is in breach, `.` does not exist, `p` was never scheduled, `l` was scheduled and is lost, `z` was
   * scheduled and scaled to zero by a user, `x` is scheduled and has no breach condition, `f` has no conditions, `u` is
   * being updated, `o` is available with an old template, `t` is available and terminating.
   */
  readonly members: string
  readonly replicas?: number
  readonly minAvailable?: number | undefined
  readonly before?: Partial<PodCliqueScalingGroupStatus>
  readonly onTotalLoss?: OnTotalLoss
  readonly isLeaving?: boolean
  readonly paused?: boolean
  readonly more?: readonly PodClique[]
  readonly now?: string
}

const created = '2029-12-31T23:00:00Z'
const time = '2030-01-01T00:00:00Z'
const said = (type: string, status: string): Condition =>
  ({ type, status, reason: 'x', message: 'x', lastTransitionTime: time }) as Condition

function member(letter: string, replica: number, name: string): PodClique {
  const isScheduled = !'pflz'.includes(letter)
  const ready = 'rout'.includes(letter) ? 2 : 0
  const hash = letter === 'o' ? 'old' : 'new'
  const breached = letter === 'b' ? 'True' : letter === 'u' ? 'Unknown' : 'False'
  return {
    apiVersion: 'grove.io/v1alpha1',
    kind: 'PodClique',
    metadata: {
      name: `w-0-g-${replica}-${name}`,
      namespace: 'serving',
      labels: { [label.scalingGroupReplicaIndex]: String(replica), [label.podTemplateHash]: hash },
      ...(letter === 't' && { deletionTimestamp: time }),
    },
    // Without minAvailable every pod counts.
    spec: { roleName: name, replicas: letter === 'z' ? 0 : 2, podSpec: { containers: [] } },
    ...(letter !== 'f' && {
      status: {
        readyReplicas: ready,
        updatedReplicas: 2,
        scheduleGatedReplicas: 0,
        scheduledReplicas: isScheduled ? 2 : 0,
        currentPodTemplateHash: hash,
        currentPodCliqueSetGenerationHash: letter === 'o' ? 'former' : 'g',
        conditions: [
          said('PodCliqueScheduled', isScheduled ? 'True' : 'False'),
          ...('lz'.includes(letter) ? [said('EverScheduled', 'True')] : []),
          ...(letter === 'x' ? [] : [said('MinAvailableBreached', breached)]),
        ],
      },
    }),
  }
}

function plan({
  members,
  replicas,
  before,
  onTotalLoss = 'Wait',
  isLeaving = false,
  paused = false,
  more,
  now,
  ...given
}: Shape) {
  const minAvailable = 'minAvailable' in given ? given.minAvailable : 1
  const letters = members.split(' ').filter(Boolean)
  const group: StoredScalingGroup = {
    apiVersion: 'grove.io/v1alpha1',
    kind: 'PodCliqueScalingGroup',
    metadata: {
      name: 'w-0-g',
      namespace: 'serving',
      uid: 'group-uid',
      resourceVersion: '1',
      generation: 7,
      creationTimestamp: created,
    },
    spec: {
      replicas: replicas ?? letters.length,
      cliqueNames: ['a', 'b'],
      ...(minAvailable !== undefined && { minAvailable }),
    },
    ...(before && {
      status: { scheduledReplicas: 0, availableReplicas: 0, updatedReplicas: 0, ...before },
    }),
  }
  const cliques = letters.flatMap((word, replica) =>
    [...word].flatMap((letter, at) => (letter === '.' ? [] : [member(letter, replica, 'ab'[at]!)])),
  )
  return planGroupStatus({
    set: 'w',
    group,
    cliques: [...cliques, ...(more ?? [])],
    revision,
    onTotalLoss,
    isLeaving,
    update: undefined,
    paused,
    now: now ?? '2030-01-01T02:00:00Z',
  })
}

function breachOf(shape: Shape): [status: string, reason: string, message: string] {
  const { status, reason, message } = findCondition(plan(shape).status.conditions, 'MinAvailableBreached')!
  return [status, reason, message]
}

const running = { podCliqueSetGenerationHash: 'g', updateStartedAt: time }
const ended = { ...running, updateEndedAt: time }

const counts: [what: string, shape: Shape, counted: [number, number, number, number]][] = [
  ['nothing exists yet', { members: '', replicas: 3 }, [3, 0, 0, 0]],
  ['every clique is available', { members: 'rr rr' }, [2, 2, 2, 2]],
  ['a starting clique makes its replica unavailable', { members: 'rr rs' }, [2, 2, 1, 1]],
  ['an unscheduled clique makes its replica unscheduled', { members: 'rr rp' }, [2, 1, 1, 1]],
  ['a replica without one of its cliques counts nowhere', { members: 'r. rr' }, [2, 1, 1, 1]],
  ['a replica with a terminating clique counts nowhere', { members: 'rt rr' }, [2, 1, 1, 1]],
  ['a replica with an old template is available and not updated', { members: 'ro rr oo' }, [3, 3, 3, 1]],
  ['replicas above the wanted number are ignored', { members: 'rr rr rr', replicas: 1 }, [1, 1, 1, 1]],
  ['a clique of another name is ignored', { members: 'rr', more: [member('r', 0, 'c')] }, [1, 1, 1, 1]],
  ['a clique without a label belongs to no replica', { members: '.r', more: [unlabelled()] }, [1, 0, 0, 0]],
  ['scaled to zero', { members: '', replicas: 0 }, [0, 0, 0, 0]],
]
for (const [what, shape, counted] of counts)
  test(`counts: ${what}`, () => {
    const { replicas, scheduledReplicas, availableReplicas, updatedReplicas } = plan(shape).status
    assert.deepEqual([replicas, scheduledReplicas, availableReplicas, updatedReplicas], counted)
  })

function unlabelled(): PodClique {
  const clique = member('r', 0, 'a')
  return { ...clique, metadata: { ...clique.metadata, labels: {} } }
}

const enough = (healthy: number, minimum: number) =>
  [
    'False',
    'SufficientAvailablePodCliqueScalingGroupReplicas',
    `PCSG replicas not in breach (${healthy}) meets MinAvailable (${minimum})`,
  ] as const
const tooFew = (healthy: number, minimum: number) =>
  [
    'True',
    'InsufficientAvailablePodCliqueScalingGroupReplicas',
    `PCSG replicas not in breach (${healthy}) below MinAvailable (${minimum})`,
  ] as const
const below = (scheduled: number, minimum: number) =>
  [
    'True',
    'ScheduledReplicasBelowMinAvailable',
    `Scheduled replicas (${scheduled}) below MinAvailable (${minimum})`,
  ] as const
const suppressed = (message: string) =>
  ['False', 'InsufficientScheduledPodCliqueScalingGroupReplicas', message] as const
const startUp = suppressed(
  'No replica has been scheduled yet. Gang termination is suppressed during start-up',
)
const lost = suppressed(
  'All scheduled replicas were lost. Gang termination is suppressed because recreating them would give the same pending pods',
)
const zero = suppressed('Scaled to zero. Gang termination is suppressed because no replica is wanted')
const updating = ['Unknown', 'UpdateInProgress', 'Update is in progress'] as const
const wasHealthy = { conditions: [said('EverHealthy', 'True')] }

const breaches: [what: string, shape: Shape, condition: readonly [string, string, string]][] = [
  ['one replica of five in breach', { members: 'rr rr rb rr rr', minAvailable: 2 }, enough(4, 2)],
  ['one breach that minAvailable tolerates', { members: 'rr br' }, enough(1, 1)],
  ['both replicas in breach', { members: 'rb br' }, tooFew(0, 1)],
  ['one replica incomplete and one in breach', { members: 'r. br' }, tooFew(0, 1)],
  ['one replica incomplete and one available', { members: 'r. rr' }, enough(1, 1)],
  ['one replica starting, none in breach', { members: 'rs rr', minAvailable: 2 }, enough(2, 2)],
  ['no minAvailable counts as 1', { members: 'rr rp', minAvailable: undefined }, enough(2, 1)],
  ['a clique that is being updated is not in breach', { members: 'ru' }, enough(1, 1)],
  ['a scheduled clique without a breach condition is not available', { members: 'xx xr' }, tooFew(0, 1)],
  ['too few replicas are scheduled', { members: 'rr pp ff', minAvailable: 2 }, below(1, 2)],
  [
    'one replica is terminating, and too few are scheduled',
    { members: 'rr rt', minAvailable: 2 },
    below(1, 2),
  ],
  ['nothing exists yet', { members: '', replicas: 2 }, startUp],
  ['nothing is scheduled yet', { members: 'pp rp' }, startUp],
  ['one clique of each replica was scheduled, but no replica as a whole', { members: 'rp pr' }, startUp],
  ['a lost replica was scheduled as a whole once', { members: 'll' }, lost],
  ['an available group is lost', { members: 'pp', before: wasHealthy }, lost],
  [
    'an available group is lost, and that is a breach',
    { members: 'pp', before: wasHealthy, onTotalLoss: 'Recreate' },
    below(0, 1),
  ],
  ['no breach at startup', { members: 'pp', onTotalLoss: 'Recreate' }, startUp],
  ['zero replicas are wanted', { members: '', replicas: 0, before: wasHealthy }, zero],
  ['scaled to zero', { members: '', replicas: 0, before: wasHealthy, onTotalLoss: 'Recreate' }, zero],
  ['a member scaled to zero', { members: 'rz', before: wasHealthy, onTotalLoss: 'Recreate' }, zero],
  [
    'a member of one replica scaled to zero, the other replica lost',
    { members: 'rz pp', before: wasHealthy },
    lost,
  ],
  [
    'all replicas in breach, during an update',
    { members: 'bb bb', before: { updateProgress: running } },
    updating,
  ],
  [
    'too few replicas are scheduled, during an update',
    { members: 'rr pp ff', minAvailable: 2, before: { updateProgress: running } },
    updating,
  ],
  [
    'all replicas are lost, during an update',
    { members: 'pp', before: { ...wasHealthy, updateProgress: running }, onTotalLoss: 'Recreate' },
    updating,
  ],
  [
    'too few replicas are scheduled, during a paused update',
    { members: 'rr pp ff', minAvailable: 2, before: { updateProgress: running }, paused: true },
    below(1, 2),
  ],
  [
    'all replicas in breach, during a paused update',
    { members: 'bb bb', before: { updateProgress: running }, paused: true },
    tooFew(0, 1),
  ],
  [
    'all replicas in breach, after an update',
    { members: 'bb', before: { updateProgress: ended } },
    tooFew(0, 1),
  ],
]
for (const [what, shape, condition] of breaches)
  test(`in breach: ${what}`, () => assert.deepEqual(breachOf(shape), condition))

const isMarked = (shape: Shape) =>
  findCondition(
    plan({
      ...shape,
      before: {
        ...shape.before,
        conditions: [{ ...gangTerminationInProgress(0), lastTransitionTime: time }],
      },
    }).status.conditions,
    'GangTerminationInProgress',
  ) !== undefined

test('removes the termination mark when the group is available again, not while its state is unknown or unscheduled', () => {
  for (const members of ['ff', 'pp', 'xx', 'bb', 'r.']) assert.equal(isMarked({ members }), true, members)
  assert.equal(isMarked({ members: 'rr', before: { updateProgress: running } }), true, 'being updated')
  assert.equal(isMarked({ members: 'rr' }), false)
})

test('records permanently that a group was healthy once, and does not derive this from an update', () => {
  const remembers = (shape: Shape) =>
    findCondition(plan(shape).status.conditions, 'EverHealthy')?.status === 'True'
  assert.equal(remembers({ members: 'rr', before: { updateProgress: running } }), false)
  assert.equal(remembers({ members: 'bb' }), false)
  assert.equal(remembers({ members: 'pp' }), false)
  assert.equal(remembers({ members: 'ss' }), true)
  assert.equal(remembers({ members: 'pp', before: plan({ members: 'rr' }).status }), true)
})

test('reports the loss of the last scheduled replica once, with its consequence', () => {
  const before = plan({ members: 'rr rr' }).status
  const loss = plan({ members: 'pp rp', before })
  assert.deepEqual(loss.events, [
    {
      type: 'Warning',
      reason: 'AllScheduledReplicasLost',
      message:
        'All scheduled replicas lost (was 2). Gang termination is suppressed while nothing of the PCSG is scheduled; investigate node availability or capacity.',
    },
  ])
  assert.deepEqual(plan({ members: 'pp rp', before, onTotalLoss: 'Recreate' }).events, [
    {
      type: 'Warning',
      reason: 'AllScheduledReplicasLost',
      message:
        'All scheduled replicas lost (was 2). Gang termination will fire after TerminationDelay if the PCSG stays below MinAvailable; investigate node availability or capacity.',
    },
  ])
  assert.deepEqual(plan({ members: 'pp rp', before: loss.status }).events, [])
  assert.deepEqual(plan({ members: 'rr pp', before }).events, [], 'one replica is left')
  assert.deepEqual(plan({ members: '', replicas: 0, before }).events, [], 'zero replicas are wanted')
  assert.deepEqual(
    plan({ members: 'pp', isLeaving: true, before }).events,
    [],
    'its replica is being deleted',
  )
})

test('always sets the selector and observedGeneration', () => {
  for (const shape of [{ members: 'rr' }, { members: '', replicas: 0 }, { members: 'ff' }]) {
    const { selector, observedGeneration } = plan(shape).status
    assert.equal(
      selector,
      'app.kubernetes.io/managed-by=grove-operator,app.kubernetes.io/part-of=w,grove.io/podcliquescalinggroup=w-0-g',
    )
    assert.equal(observedGeneration, 7)
  }
})

const generations: [what: string, shape: Shape, reached: string | undefined][] = [
  ['every clique has reached it, ready or not', { members: 'rr ss pb' }, 'g'],
  ['one clique has an old template', { members: 'rr ro' }, 'former'],
  ['one clique is missing', { members: 'rr r.' }, 'former'],
  ['one clique is terminating', { members: 'rr rt' }, 'former'],
  ['one clique has no status yet', { members: 'rr rf' }, 'former'],
  ['an update runs', { members: 'rr', before: { updateProgress: running } }, 'former'],
  ['the update has ended', { members: 'rr', before: { updateProgress: ended } }, 'g'],
]
for (const [what, shape, reached] of generations)
  test(`the generation that the group reports when ${what}`, () => {
    const before = { currentPodCliqueSetGenerationHash: 'former', ...shape.before }
    assert.equal(plan({ ...shape, before }).status.currentPodCliqueSetGenerationHash, reached)
  })

test('during and after an update its cliques are counted one by one, including those of incomplete replicas', () => {
  const progress = (members: string, updateProgress: typeof running | undefined) => {
    const { status } = plan({ members, replicas: 3, ...(updateProgress && { before: { updateProgress } }) })
    return [status.updateProgress?.updatedPodCliquesCount, status.updateProgress?.totalPodCliquesCount]
  }
  assert.deepEqual(progress('rr ro r.', running), [4, 6])
  assert.deepEqual(progress('rr rr rt', ended), [5, 6])
  assert.deepEqual(progress('rr rr rr', undefined), [undefined, undefined])
})

test('a breach of a group is no older than those of its cliques', () => {
  const long = { ...said('MinAvailableBreached', 'True'), lastTransitionTime: '2029-12-31T20:00:00Z' }
  const breachAt = (members: string) =>
    findCondition(
      plan({ members, minAvailable: 2, before: { conditions: [long] } }).status.conditions,
      'MinAvailableBreached',
    )!.lastTransitionTime
  assert.equal(breachAt('bb rr'), time)
  // The breach of a missing clique is unknown.
  assert.equal(breachAt('.r rr'), long.lastTransitionTime)
})

test('a breach that starts in the future, by the clock of another operator, starts now; a cause in the future is ignored', () => {
  const breach = (lastTransitionTime: string) => ({
    ...said('MinAvailableBreached', 'True'),
    lastTransitionTime,
  })
  const begins = (members: string, before: string, now: string) =>
    findCondition(
      plan({ members, minAvailable: 2, before: { conditions: [breach(before)] }, now }).status.conditions,
      'MinAvailableBreached',
    )!.lastTransitionTime
  const [past, now, future] = ['2029-12-31T20:00:00Z', '2029-12-31T22:00:00Z', '2030-01-01T09:00:00Z']
  assert.equal(begins('rr pp', future, now), now)
  assert.equal(begins('rr pp', past, now), past)
  // The clique in breach has a time in the future.
  assert.equal(begins('bb rr', past, now), past)
})

test('the plan for an unchanged group changes nothing, whatever the time', () => {
  for (const members of ['rr rr', 'rb pp', 'ff']) {
    const once = plan({ members, now: time }).status
    const again = plan({ members, before: once, now: '2030-01-01T09:00:00Z' })
    assert.deepEqual(again, { status: once, events: [] })
  }
})

test('a group of the Go operator that is in breach at the take-over was healthy if its breach began after its start', () => {
  const legacy = '58bf9fd547f78bb9b47c'
  const remembers = (status: string, since: string, currentPodCliqueSetGenerationHash?: string) => {
    const breached = { ...said('MinAvailableBreached', status), lastTransitionTime: since }
    const before = {
      conditions: [breached],
      ...(currentPodCliqueSetGenerationHash && { currentPodCliqueSetGenerationHash }),
    }
    const { conditions } = plan({ members: 'rr bb', minAvailable: 2, before }).status
    return findCondition(conditions, 'EverHealthy') !== undefined
  }
  const atStart = '2029-12-31T23:00:05Z'
  assert.equal(remembers('True', time, legacy), true)
  assert.equal(remembers('Unknown', time, legacy), true)
  assert.equal(remembers('False', atStart, legacy), true)
  assert.equal(remembers('True', atStart, legacy), false, 'the group has been starting since its creation')
  assert.equal(remembers('True', time, 'g'), false, 'this operator records the fact')
  assert.equal(remembers('True', time), false)
})
