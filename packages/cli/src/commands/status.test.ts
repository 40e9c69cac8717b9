// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  apiVersion,
  label,
  type Pod,
  type PodClique,
  type PodCliqueScalingGroup,
  podsFailing,
} from '@grove/api'
import { rendered } from '../terminal/line.ts'
import type { SetObjects } from '../tree/set-model.ts'
import { treeLines } from '../tree/set-tree.ts'
import { statusLines as coloured } from './status.ts'

const statusLines = (objects: SetObjects) => coloured(objects).map(line => rendered(line, false))

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
    '  PodCliqueScalingGroup llm-0-decode: scaled to 1, below its minAvailable 2',
  ])
  assert.deepEqual(statusLines({ ...nothing, groups: [group(2)] }), [head])
  assert.ok(
    treeLines({ ...nothing, groups: [group(0)] })
      .map(line => rendered(line, false))
      .includes('   └─ PodCliqueScalingGroup llm-0-decode  0/0 available  scaled below its minAvailable 2'),
  )
})

test('a few cliques are printed one by one', () => {
  assert.deepEqual(statusLines(crowd(1)), [
    head,
    '  PodClique a: PodCliqueScheduled Few since 2030-01-01T00:00:09Z: a: 0',
    '  PodClique a: 2 pods unschedulable: no room',
  ])
  assert.equal(statusLines(crowd(3)).length, 1 + 3 + 3)
})

test('many cliques with the same condition are printed in one line, with the earliest time', () => {
  assert.deepEqual(statusLines(crowd(5)), [
    head,
    '  5 PodCliques, such as a: PodCliqueScheduled Few since 2030-01-01T00:00:05Z: a: 0',
    '  5 PodCliques, such as a: 10 pods unschedulable: no room',
  ])
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
