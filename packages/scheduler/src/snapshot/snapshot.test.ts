// SPDX-License-Identifier: Apache-2.0
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '@grove/api'
import { defaultPolicy, plan, snapshotFrom } from '../index.ts'
import { memberPod, node, pod, podGang, topologyBinding } from '../testing/objects.ts'

const cpu = { cpu: '8' }

test('live pods of this scheduler are members, split into bound, waiting and gated pods', () => {
  const { gangs, boundPods, strayPods } = snapshotFrom({
    nodes: [node('n', cpu)],
    pods: [
      memberPod('g', 'c', 3, { cpu: '1' }),
      memberPod('g', 'c', 1, { cpu: '1' }),
      memberPod('g', 'c', 0, { cpu: '1' }, { node: 'n' }),
      memberPod('g', 'c', 2, { cpu: '1' }, { gated: true }),
      memberPod('g', 'c', 4, { cpu: '1' }, { node: 'n', terminating: true }),
      memberPod('g', 'c', 5, { cpu: '1' }, { spec: { schedulerName: 'other' } }),
      memberPod('later', 'd', 0, { cpu: '1' }),
      { ...pod('done', { cpu: '1' }, { node: 'n' }), status: { phase: 'Succeeded' } },
    ],
    podGangs: [podGang('g', [{ name: 'c', min: 2 }])],
  })
  const [group] = gangs[0]!.groups
  const names = (pods: readonly { name: string }[]) => pods.map(({ name }) => name)
  deepEqual(names(group!.placed), ['c-0'])
  deepEqual(names(group!.candidates), ['c-1', 'c-3'])
  deepEqual(names(group!.gated), ['c-2'])
  deepEqual(names(boundPods), ['c-0', 'c-4'])
  deepEqual(names(strayPods), ['d-0'])
})

test('a terminating gang is not planned, and its bound pods hold their resources', () => {
  const gang = podGang('g', [{ name: 'c', min: 2 }])
  const { gangs, boundPods, strayPods } = snapshotFrom({
    nodes: [node('n', cpu)],
    pods: [memberPod('g', 'c', 0, { cpu: '1' }, { node: 'n' }), memberPod('g', 'c', 1, { cpu: '1' })],
    podGangs: [{ ...gang, metadata: { ...gang.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } }],
  })
  deepEqual([gangs.length, boundPods.length, strayPods.length], [0, 1, 0])
})

test('an assumed pod counts as bound', () => {
  const objects = {
    nodes: [node('n', { cpu: '1' })],
    pods: [memberPod('g', 'c', 0, { cpu: '1' }), memberPod('h', 'd', 0, { cpu: '1' })],
    podGangs: [podGang('g', [{ name: 'c', min: 1 }]), podGang('h', [{ name: 'd', min: 1 }])],
  }
  const assumed = [{ namespace: 'default', name: 'd-0', uid: 'uid-d-0', node: 'n' }]
  const decision = plan(snapshotFrom(objects, { assumed }), { ...defaultPolicy, fixes: false }, 0)
  deepEqual(
    decision.gangs.map(({ name, verdict }) => [name, verdict]),
    [
      ['g', 'Unschedulable'],
      ['h', 'Scheduled'],
    ],
  )
  deepEqual(decision.bindings, [])
})

test('gangs are planned by priority, age, base before scaled, then name', () => {
  const classes = [
    { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name: 'high' }, value: 5 },
  ] as const
  const old = '2026-01-01T00:00:00Z'
  const young = '2026-01-02T00:00:00Z'
  const group = (name: string) => [{ name, min: 1 }]
  const { gangs } = snapshotFrom({
    nodes: [],
    pods: [memberPod('scaled', 's', 0, {}, { baseGang: 'base' }), memberPod('base', 'b', 0, {})],
    podGangs: [
      podGang('young', group('y'), { createdAt: young }),
      podGang('scaled', group('s'), { createdAt: old }),
      podGang('base', group('b'), { createdAt: old }),
      podGang('also', group('a'), { createdAt: old }),
      podGang('urgent', group('u'), { createdAt: young, priorityClassName: 'high' }),
    ],
    priorityClasses: classes,
  })
  deepEqual(
    gangs.map(({ name }) => name),
    ['urgent', 'also', 'base', 'scaled', 'young'],
  )
})

test('a scaled gang that was created before its base gang is planned right after it', () => {
  const { gangs } = snapshotFrom({
    nodes: [],
    pods: [memberPod('scaled', 's', 0, {}, { baseGang: 'base' }), memberPod('base', 'b', 0, {})],
    podGangs: [
      podGang('scaled', [{ name: 's', min: 1 }], { createdAt: '2026-01-01T00:00:00Z' }),
      podGang('base', [{ name: 'b', min: 1 }], { createdAt: '2026-01-01T00:00:01Z' }),
      podGang('later', [{ name: 'l', min: 1 }], { createdAt: '2026-01-01T00:00:02Z' }),
    ],
  })
  deepEqual(
    gangs.map(({ name }) => name),
    ['base', 'scaled', 'later'],
  )
})

test('scaled gangs are planned in the order of the scaling groups in the template, then by replica', () => {
  const scaled = (group: string, replica: number, baseGang?: string) => {
    const clique = `s-0-${group}-${replica}-w`
    const labels = {
      'grove.io/podcliquescalinggroup': `s-0-${group}`,
      'grove.io/podcliquescalinggroup-replica-index': String(replica),
    }
    const gang = baseGang === undefined ? 's-0' : `s-0-${group}-${replica - 1}`
    return memberPod(gang, clique, 0, {}, { labels, ...(baseGang && { baseGang }) })
  }
  const gangs = [
    ['z', 10],
    ['z', 9],
    ['a', 1],
  ].map(([group, replica]) => scaled(String(group), Number(replica), 's-0'))
  const groupsOf = (pods: readonly Pod[]) =>
    pods.map(({ metadata }) => ({ name: metadata.labels!['grove.io/podclique']!, min: 1 }))
  const base = [scaled('z', 0), scaled('a', 0)]
  const { gangs: planned } = snapshotFrom({
    nodes: [],
    pods: [...base, ...gangs],
    podGangs: [
      podGang('s-0', groupsOf(base)),
      ...gangs.map(pod => podGang(pod.metadata.labels!['grove.io/podgang']!, groupsOf([pod]))),
    ],
  })
  deepEqual(
    planned.map(({ name }) => name),
    ['s-0', 's-0-z-8', 's-0-z-9', 's-0-a-0'],
  )
})

test('two racks of the same name in different zones are two domains', () => {
  const labels = (zone: string) => ({ labels: { zone, rack: 'r1' } })
  const objects = {
    nodes: [node('a', { cpu: '1' }, labels('1')), node('b', { cpu: '1' }, labels('2'))],
    pods: [memberPod('g', 'c', 0, { cpu: '1' }), memberPod('g', 'c', 1, { cpu: '1' })],
    podGangs: [podGang('g', [{ name: 'c', min: 2 }], { topology: 'fabric', required: 'rack' })],
  }
  const verdict = (topologyBindings: Parameters<typeof snapshotFrom>[0]['topologyBindings']) =>
    plan(
      snapshotFrom({ ...objects, topologyBindings: topologyBindings ?? [] }),
      { ...defaultPolicy, fixes: false },
      0,
    ).gangs[0]?.verdict
  equal(verdict([topologyBinding('fabric', { zone: 'zone', rack: 'rack' })]), 'Unschedulable')
  // Without the binding, only the value of the label counts.
  equal(verdict([]), 'Scheduled')
})
