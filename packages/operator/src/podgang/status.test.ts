// SPDX-License-Identifier: Apache-2.0

// Tests the cause for which a gang is not scheduled.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { label, type Pod, type PodClique, type PodGang, podGangInitialized } from '@grove/api'
import { basePodGang, type PodGangInstance } from '../layout/layout.ts'
import { clique, group, type PodShape, samplePod, sampleSet } from '../testing/sample-set.ts'
import { planGang } from './plan.ts'
import { statusFromPods } from './status.ts'

const now = '2030-01-01T00:00:00Z'
const set = sampleSet({
  cliques: [clique('router', { replicas: 2, minAvailable: 1 }), clique('work', { replicas: 2 })],
  groups: [group('eng', ['work'])],
})
const base = basePodGang(set, 0)
const scaled: PodGangInstance = {
  ...base,
  scaled: { instance: base.cliques[1]!.group!.instance, replica: 1 },
}
const router = 'w-0-router'
const work = 'w-0-eng-0-work'

interface Case {
  readonly instance?: PodGangInstance
  /** By clique. */
  readonly pods: Readonly<Record<string, readonly PodShape[]>>
  readonly replicas?: number
  readonly scaledAway?: boolean
  readonly initialized?: ReturnType<typeof podGangInitialized.pending>
  readonly schedulerMessage?: string
}

function scheduled(given: Case): string {
  const { instance = base } = given
  const members = {
    cliqueNamed: (name: string) =>
      ({ metadata: { name, uid: name }, spec: { replicas: given.replicas ?? 2 } }) as unknown as PodClique,
    podsOf: ({ metadata }: PodClique): Pod[] =>
      (given.pods[metadata.name] ?? []).map((shape, at) =>
        samplePod(`${metadata.name}-${at}`, { ...shape, labels: { [label.podGang]: 'w-0' } }),
      ),
    isScaledAway: ({ name }: { name: string }) => given.scaledAway === true && name === work,
  }
  const gang = planGang({
    set,
    instance: base,
    existing: undefined,
    levels: undefined,
    schedulerName: 'default-scheduler',
    members,
  }).create as PodGang
  const status = statusFromPods(
    gang,
    {
      set,
      instance,
      members,
      schedulerName: 'volcano',
      initialized: given.initialized ?? podGangInitialized.done,
      schedulerMessage: given.schedulerMessage,
    },
    now,
  )
  const condition = status.conditions!.find(({ type }) => type === 'Scheduled')!
  return `${condition.status} ${condition.reason}: ${condition.message}`
}

const bound: PodShape = { node: 'n' }
const waiting: PodShape = { phase: 'Pending' }
const gated: PodShape = { phase: 'Pending', gated: true }
const unplaceable: PodShape = { phase: 'Pending', unschedulable: '0/3 nodes are available.' }
const all = (shape: PodShape) => ({ [router]: [shape, shape], [work]: [shape, shape] })

describe('the condition Scheduled of a gang', () => {
  const table: [name: string, given: Case, expected: string][] = [
    [
      'is True if every clique has its minimum scheduled',
      { pods: { [router]: [bound, unplaceable], [work]: [bound, bound] } },
      'True Bound: at least minReplicas pods of every PodClique are bound to nodes',
    ],
    [
      'names missing pods first',
      {
        pods: all(unplaceable),
        initialized: podGangInitialized.pending('PodClique w-0-router has 1 of 2 pods'),
      },
      'False PodsNotCreated: PodClique w-0-router has 1 of 2 pods',
    ],
    [
      'names a gate',
      { pods: all(gated) },
      'False PodsGated: pods of PodClique w-0-router wait for scheduling gate grove.io/podgang-pending-creation',
    ],
    [
      'names the base gang of a scaled gang with gates',
      { pods: all(gated), instance: scaled },
      'False BaseGangNotScheduled: waits until base gang w-0 is scheduled',
    ],
    [
      'repeats the message about a pod of the first clique below its minimum',
      { pods: { [router]: [bound, unplaceable], [work]: [bound, unplaceable] } },
      'False Unschedulable: PodClique w-0-eng-0-work: 0/3 nodes are available.',
    ],
    [
      'prefers the message about a pod to the message about the gang',
      { pods: all(unplaceable), schedulerMessage: 'queue is full' },
      'False Unschedulable: PodClique w-0-router: 0/3 nodes are available.',
    ],
    [
      'repeats the message about the gang',
      { pods: all(waiting), schedulerMessage: 'queue is full' },
      'False Unschedulable: queue is full',
    ],
    [
      'reports that a clique is scaled below its minimum',
      { pods: { [router]: [bound], [work]: [bound] }, replicas: 1 },
      'False ScaledBelowMinimum: PodClique w-0-eng-0-work is scaled to 1, which is below its minAvailable',
    ],
    [
      'reports that the group is scaled to zero',
      { pods: { [router]: [bound] }, scaledAway: true },
      'False ScaledBelowMinimum: PodClique w-0-eng-0-work is scaled to 0, which is below its minAvailable',
    ],
    [
      'names the scheduler that has not reported',
      { pods: all(waiting) },
      'False NotYetEvaluated: scheduler volcano has not reported on the gang yet',
    ],
    [
      'ignores finished and terminating pods',
      {
        pods: {
          ...all(bound),
          [work]: [bound, { ...bound, terminating: true }, { phase: 'Failed', node: 'n' }],
        },
      },
      'False NotYetEvaluated: scheduler volcano has not reported on the gang yet',
    ],
  ]
  for (const [name, given, expected] of table) test(name, () => assert.equal(scheduled(given), expected))
})
