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
} from '@grove/api'
import { type SetObjects, setTree } from '@grove/inspect'
import { rendered } from '../terminal/line.ts'
import { treePicture } from './set-tree.ts'

const huge = 2_000_000_000

function clique(name: string, labels: Record<string, string>): PodClique {
  return {
    apiVersion,
    kind: 'PodClique',
    metadata: { name, labels },
    spec: { roleName: 'r', podSpec: { containers: [] }, replicas: 1, minAvailable: 1 },
  }
}

function objectsOf(replicas: number, groups: PodCliqueScalingGroup[], cliques: PodClique[]): SetObjects {
  return {
    set: {
      apiVersion,
      kind: 'PodCliqueSet',
      metadata: { name: 'llm', namespace: 'default' },
      spec: { replicas, template: { cliques: [] } },
    },
    groups,
    cliques,
    gangs: [],
    pods: [],
  }
}

const linesOf = (objects: SetObjects) => treePicture(objects).lines.map(line => rendered(line, false))

test('a set with two billion replicas shows existing ones and counts the rest', () => {
  const existing = clique('llm-1500-web', { [label.setReplicaIndex]: '1500' })
  const objects = objectsOf(huge, [], [existing])
  const lines = linesOf(objects)
  assert.equal(lines.length, 1 + 100 + 2 + 1)
  assert.ok(lines.includes('├─ replica 1500  PodGang llm-1500 does not exist yet'))
  assert.equal(lines.at(-1), '└─ … and 1,999,999,899 more replicas that do not exist yet')
  assert.equal(setTree(objects).hidden, huge - 101)
})

test('a scaling group with two billion replicas shows existing ones and counts the rest', () => {
  const group: PodCliqueScalingGroup = {
    apiVersion,
    kind: 'PodCliqueScalingGroup',
    metadata: { name: 'llm-0-decode', labels: { [label.setReplicaIndex]: '0' } },
    spec: { replicas: huge, minAvailable: 1, cliqueNames: ['web'] },
  }
  const member = clique('llm-0-decode-0-web', {
    [label.setReplicaIndex]: '0',
    [label.scalingGroup]: 'llm-0-decode',
    [label.scalingGroupReplicaIndex]: '0',
  })
  const lines = linesOf(objectsOf(1, [group], [member]))
  assert.equal(lines.length, 3 + 2 + 100 + 1)
  assert.equal(lines.at(-1), '      └─ … and 1,999,999,899 more replicas that do not exist yet')
})

test('replicas that are scaled in are shown until they are deleted', () => {
  const cliques = ['0', '3'].map(index => clique(`llm-${index}-web`, { [label.setReplicaIndex]: index }))
  assert.deepEqual(
    setTree(objectsOf(2, [], cliques)).children.map(({ name }) => name),
    ['0', '1', '3'],
  )
})

test('a condition that is too wide for its line is a note below the tree, once for all lines', () => {
  const condition = {
    type: 'PodCliqueScheduled',
    status: 'False' as const,
    reason: 'InsufficientScheduledPods',
    message: '',
    lastTransitionTime: '2030-01-01T00:00:00Z',
  }
  const cliques = ['prefill', 'decode'].map(name => ({
    ...clique(`llm-0-${name}`, { [label.setReplicaIndex]: '0' }),
    status: { conditions: [condition] },
  })) as PodClique[]
  const objects = objectsOf(1, [], cliques)
  const wide = '   └─ PodClique llm-0-prefill  0/1 ready  not PodCliqueScheduled: InsufficientScheduledPods'
  assert.equal(linesOf(objects).at(-1), wide)
  const { lines, notes } = treePicture(objects, { columns: wide.length - 2 })
  assert.deepEqual(
    lines.slice(-2).map(line => rendered(line, false)),
    ['   ├─ PodClique llm-0-decode  0/1 ready  [1]', '   └─ PodClique llm-0-prefill  0/1 ready  [1]'],
  )
  assert.deepEqual(
    notes.map(note => rendered(note, false)),
    ['', '[1] not PodCliqueScheduled: InsufficientScheduledPods'],
  )
})

test('a reason of one word has no note, however narrow the terminal is', () => {
  const objects = objectsOf(1, [], [clique('llm-0-prefill', { [label.setReplicaIndex]: '0' })])
  const pod = {
    metadata: { name: 'llm-0-prefill-a', labels: { [label.podClique]: 'llm-0-prefill' } },
  } as unknown as Pod
  const { lines, notes } = treePicture({ ...objects, pods: [pod] }, { columns: 30 })
  assert.equal(
    rendered(lines.at(-1)!, false),
    '   └─ PodClique llm-0-prefill  0/1 ready  1 not scheduled yet',
  )
  assert.deepEqual(notes, [])
})

test('an error of a clique is shown on its line instead of the pods that are missing because of it', () => {
  const failing = clique('llm-0-prefill', { [label.setReplicaIndex]: '0' })
  const pod = (index: number) => ({
    code: 'ERR_CREATE_POD',
    description: `pod llm-0-prefill-${index} is invalid`,
    observedAt: '2030-01-01T00:00:00Z',
  })
  failing.status = {
    readyReplicas: 0,
    updatedReplicas: 0,
    scheduleGatedReplicas: 0,
    scheduledReplicas: 0,
    lastErrors: [pod(0), pod(1)],
    conditions: [
      {
        type: 'PodCliqueScheduled',
        status: 'False',
        reason: 'InsufficientScheduledPods',
        message: '',
        lastTransitionTime: '2030-01-01T00:00:00Z',
      },
    ],
  }
  const { lines, notes } = treePicture(objectsOf(1, [], [failing]))
  assert.equal(rendered(lines.at(-1)!, false), '   └─ PodClique llm-0-prefill  0/1 ready  ERR_CREATE_POD [1]')
  assert.deepEqual(
    notes.map(note => (typeof note === 'string' ? note : note.text)),
    ['', '[1] pod llm-0-prefill-0 is invalid'],
  )
})

test('a gang that is being bound is Starting, without its condition Scheduled', () => {
  const condition = (type: string, status: 'True' | 'False', reason: string) => ({
    type,
    status,
    reason,
    message: '',
    lastTransitionTime: '2030-01-01T00:00:00Z',
  })
  const gang: PodGang = {
    apiVersion: 'scheduler.grove.io/v1alpha1',
    kind: 'PodGang',
    metadata: { name: 'llm-0', namespace: 'default' },
    spec: { podgroups: [] },
    status: {
      phase: 'Starting',
      conditions: [condition('Initialized', 'True', 'Ready'), condition('Scheduled', 'False', 'Binding')],
    },
  }
  const cliques = [clique('llm-0-web', { [label.setReplicaIndex]: '0' })]
  const lines = linesOf({ ...objectsOf(1, [], cliques), gangs: [gang] })
  assert.equal(lines[1], '└─ replica 0  PodGang llm-0 Starting')
})
