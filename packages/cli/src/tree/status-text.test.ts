// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  apiVersion,
  label,
  type Pod,
  type PodClique,
  type PodCliqueScalingGroup,
  type PodGang,
  podsFailing,
  schedulerApiVersion,
} from '@grove/api'
import type { SetObjects } from '@grove/inspect'
import { rendered } from '../terminal/line.ts'
import { wrappedNotes } from '../terminal/wrap.ts'
import { type Picture, treePicture } from './set-tree.ts'
import { statusPicture } from './status-text.ts'

const textOf = ({ lines, notes }: Picture) => [...lines, ...notes].map(line => rendered(line, false))
const statusLines = (objects: SetObjects) => textOf(statusPicture(objects))

const nothing: SetObjects = {
  set: {
    apiVersion,
    kind: 'PodCliqueSet',
    metadata: { name: 'llm', namespace: 'default' },
    spec: { replicas: 1, template: { cliques: [] } },
    status: { currentGenerationHash: 'z1-a', availableReplicas: 0, updatedReplicas: 1 },
  },
  groups: [],
  cliques: [],
  gangs: [],
  pods: [],
}

function group(replicas: number): PodCliqueScalingGroup {
  return {
    apiVersion,
    kind: 'PodCliqueScalingGroup',
    metadata: { name: 'llm-0-decode', labels: { [label.setReplicaIndex]: '0' } },
    spec: { replicas, minAvailable: 2, cliqueNames: [] },
  }
}

function clique(name: string, since: string): PodClique {
  const type = 'PodCliqueScheduled'
  return {
    apiVersion,
    kind: 'PodClique',
    metadata: { name },
    spec: { roleName: 'r', podSpec: { containers: [] }, replicas: 2, minAvailable: 2 },
    status: {
      readyReplicas: 0,
      updatedReplicas: 2,
      scheduleGatedReplicas: 0,
      scheduledReplicas: 0,
      conditions: [
        { type, status: 'False', reason: 'Few', message: `${name}: 0`, lastTransitionTime: since },
      ],
    },
  }
}

function pod(of: string): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: `${of}-x`, labels: { [label.podClique]: of } },
    spec: { containers: [] },
    status: {
      conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: 'no room' }],
    },
  }
}

const named = (count: number) => ['a', 'b', 'c', 'd', 'e'].slice(0, count)
const head = 'llm: 0/1 replicas available, 1/1 on revision z1-a'

function crowd(count: number): SetObjects {
  const cliques = named(count).map((name, at) => clique(name, `2030-01-01T00:00:0${9 - at}Z`))
  return { ...nothing, cliques, pods: named(count).flatMap(name => [pod(name), pod(name)]) }
}

test('a group that was scaled below minAvailable makes a set unavailable', () => {
  assert.deepEqual(statusLines({ ...nothing, groups: [group(1)] }), [
    head,
    '  PodCliqueScalingGroup llm-0-decode: ScaledBelowMinAvailable: scaled to 1, below its minAvailable 2',
  ])
  assert.deepEqual(statusLines({ ...nothing, groups: [group(2)] }), [head])
  assert.ok(
    textOf(treePicture({ ...nothing, groups: [group(0)] })).includes(
      '   └─ PodCliqueScalingGroup llm-0-decode  0/0 available  scaled below its minAvailable 2',
    ),
  )
})

test('one cause is printed once, with its cliques and pods, and without the condition that follows from it', () => {
  assert.deepEqual(statusLines(crowd(1)), [head, '  PodClique a: Unschedulable, 2 pods wait: no room'])
  assert.deepEqual(statusLines(crowd(3)), [head, '  PodCliques a, b, c: Unschedulable, 6 pods wait: no room'])
  assert.deepEqual(statusLines(crowd(5)), [
    head,
    '  5 PodCliques, such as a: Unschedulable, 10 pods wait: no room',
  ])
})

test('conditions that no pod explains are printed in one line, with the earliest time', () => {
  assert.deepEqual(statusLines({ ...crowd(5), pods: [] }), [
    head,
    '  5 PodCliques, such as a: PodCliqueScheduled Few since 2030-01-01T00:00:05Z: a: 0',
  ])
})

test('a gang that does not fit is the first cause, and gangs that wait for it the last', () => {
  const gang = (name: string, reason: string, message: string): PodGang => ({
    apiVersion: schedulerApiVersion,
    kind: 'PodGang',
    metadata: { name },
    spec: { podgroups: [] },
    status: {
      phase: 'Pending',
      conditions: [
        { type: 'Initialized', status: 'True', reason: 'Created', message: '', lastTransitionTime: '' },
        { type: 'Scheduled', status: 'False', reason, message, lastTransitionTime: '2030-01-01T00:00:00Z' },
      ],
    },
  })
  const inGang = (name: string, given: Pod): Pod => ({
    ...given,
    metadata: { ...given.metadata, labels: { ...given.metadata.labels, [label.podGang]: name } },
  })
  const tooSmall = 'the gang needs 48 pods; all 32 eligible nodes together can hold 33 pods'
  const objects: SetObjects = {
    ...crowd(2),
    gangs: [
      gang('llm-0-x-0', 'BaseGangNotScheduled', `waits for base gang llm-0: ${tooSmall}`),
      gang('llm-0', 'ClusterTooSmall', tooSmall),
    ],
    pods: [
      inGang('llm-0-x-0', { ...pod('a'), spec: { containers: [], schedulingGates: [{ name: 'quota' }] } }),
      inGang('llm-0', pod('a')),
      inGang('llm-0', pod('b')),
    ],
  }
  assert.deepEqual(statusLines(objects), [
    head,
    `  PodGang llm-0: ClusterTooSmall since 2030-01-01T00:00:00Z, 2 pods wait: ${tooSmall}`,
    '  PodGang llm-0-x-0: BaseGangNotScheduled since 2030-01-01T00:00:00Z, 1 pod waits: waits for base gang llm-0',
  ])
})

const since = '2030-01-01T00:00:00Z'

function withConditions(
  objects: SetObjects,
  ...conditions: [type: string, status: 'True' | 'False', reason: string, message: string][]
): SetObjects {
  const { set } = objects
  const all = conditions.map(([type, status, reason, message]) => ({
    ...{ type, status, reason, message },
    lastTransitionTime: since,
  }))
  return { ...objects, set: { ...set, status: { ...set.status!, conditions: all } } }
}

const stalledHead = `${head}, stalled since ${since}`

test('the cause of the condition Stalled is the first one, and is printed once', () => {
  const [first, second] = crowd(2).cliques
  const failing = { ...podsFailing.backOff('index 3 failed 4 times'), lastTransitionTime: since }
  const objects: SetObjects = {
    ...nothing,
    cliques: [{ ...first!, status: { ...first!.status!, conditions: [failing] } }, second!],
    pods: [pod('b'), pod('b')],
  }
  const stall = 'Pods of PodClique default/a fail. index 3 failed 4 times. Read their logs'
  const other = '  PodClique b: Unschedulable, 2 pods wait: no room'
  const cause = `  PodClique a: PodsFailing BackOff since ${since}: index 3 failed 4 times`
  assert.deepEqual(statusLines(objects), [head, other, cause])
  assert.deepEqual(statusLines(withConditions(objects, ['Stalled', 'True', 'PodsFailing', stall])), [
    stalledHead,
    cause,
    other,
  ])
  assert.deepEqual(statusLines(withConditions(objects, ['Stalled', 'False', 'PodsFailing', stall])), [
    head,
    other,
    cause,
  ])
})

test('a stall that no other object reports is a cause of the set, below the tree and wrapped', () => {
  const message =
    'The set has 5,000 pods more than allowed. Reduce the replicas of a clique to fewer than 100'
  const objects = withConditions(
    nothing,
    ['Available', 'False', 'LimitExceeded', message],
    ['Stalled', 'True', 'LimitExceeded', message],
  )
  assert.deepEqual(statusLines(objects), [
    stalledHead,
    `  PodCliqueSet llm: LimitExceeded since ${since}: ${message}`,
  ])
  const { lines, notes } = treePicture(objects, { columns: 80 })
  assert.match(
    rendered(lines[0]!, false),
    /^PodCliqueSet llm {2}0\/1 available {2}Stalled: LimitExceeded \[1\]$/,
  )
  assert.deepEqual(textOf({ lines: [], notes: wrappedNotes(notes, 80) }), [
    '',
    '[1] The set has 5,000 pods more than allowed. Reduce the replicas of a clique to',
    '  fewer than 100',
  ])
})

test('the condition Available gives the cause if there is no other one', () => {
  const message = 'Replica 0 does not exist yet'
  const unavailable = ['Available', 'False', 'ReplicasUnavailable', message] as const
  assert.deepEqual(statusLines(withConditions(nothing, [...unavailable])), [
    head,
    `  PodCliqueSet llm: ReplicasUnavailable since ${since}: ${message}`,
  ])
  assert.deepEqual(statusLines(withConditions(crowd(1), [...unavailable])), statusLines(crowd(1)))
})

test('control characters in messages of the cluster are escaped', () => {
  const [first] = crowd(1).cliques
  const evil = {
    ...first!,
    status: {
      ...first!.status!,
      conditions: [{ ...first!.status!.conditions![0]!, message: '\x1b[2Jgone' }],
    },
  }
  const objects = { ...nothing, cliques: [evil] }
  assert.deepEqual(statusLines(objects), [
    head,
    '  PodClique a: PodCliqueScheduled Few since 2030-01-01T00:00:09Z: \\x1b[2Jgone',
  ])
})

test('pods that fail repeatedly are reported with the next attempt until they recover', () => {
  const failing = (status: 'True' | 'False'): SetObjects => {
    const value = status === 'True' ? podsFailing.backOff('index 3 failed 4 times') : podsFailing.recovered
    const [one] = crowd(1).cliques
    const conditions = [{ ...value, lastTransitionTime: '2030-01-01T00:00:00Z' }]
    return { ...nothing, cliques: [{ ...one!, status: { ...one!.status!, conditions } }] }
  }
  assert.deepEqual(statusLines(failing('True')), [
    head,
    '  PodClique a: PodsFailing BackOff since 2030-01-01T00:00:00Z: index 3 failed 4 times',
  ])
  assert.deepEqual(statusLines(failing('False')), [head])
})
