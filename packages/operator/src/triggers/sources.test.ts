// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { label, type Pod } from '@grove/api'
import { type Change, type KubeObject, type Source, silentLogger } from '@grove/kube'
import type { Caches } from '../caches/caches.ts'
import { setReplicaKey } from '../caches/replica-index.ts'
import { samplePod } from '../testing/sample-set.ts'
import { cliqueSources, groupSources } from './sources.ts'

type Kind = 'sets' | 'groups' | 'cliques' | 'pods' | 'gangs'

/** Caches with these objects, and the keys that a change of one of them enqueues. */
function enqueuedKeys(
  sources: typeof cliqueSources | typeof groupSources,
  held: Record<string, KubeObject[]>,
) {
  const handlers = new Map<Kind, ((change: Change<KubeObject>) => void)[]>()
  const cache = (kind: Kind) => ({
    get: ({ name }: { name: string }) => held[`${kind}/${name}`]?.[0],
    countByIndex: () => 0,
    byIndex: (index: string, key: string) => held[`${kind}/${index}/${key}`] ?? [],
    onChange: (handler: (change: Change<KubeObject>) => void) => {
      handlers.set(kind, [...(handlers.get(kind) ?? []), handler])
      return () => undefined
    },
  })
  const kinds = ['sets', 'groups', 'cliques', 'pods', 'gangs'] as const
  const caches = {
    ...Object.fromEntries(kinds.map(kind => [kind, cache(kind)])),
    optional: {},
  } as unknown as Caches
  const enqueued = new Set<string>()
  const queue = { addNoLaterThanAfter: (key: string) => void enqueued.add(key) } as never
  for (const source of sources(caches, silentLogger, () => queue) as Source<string>[])
    source(key => void enqueued.add(key))
  return (kind: Kind, before: unknown, after: unknown): string[] => {
    enqueued.clear()
    const type = before === undefined ? 'add' : after === undefined ? 'delete' : 'update'
    for (const handler of handlers.get(kind) ?? [])
      handler({ type, old: before, new: after, source: 'watch' } as Change<KubeObject>)
    return [...enqueued].sort()
  }
}

const owned = (pod: Pod, more: object = {}): Pod => ({
  ...pod,
  metadata: {
    ...pod.metadata,
    ownerReferences: [
      { apiVersion: 'grove.io/v1alpha1', kind: 'PodClique', name: 'w-0-a', uid: 'a', controller: true },
    ],
    ...more,
  },
})
const onNode = owned(samplePod('p', { ready: false }))
const gated = owned(samplePod('p', { phase: 'Pending', gated: true }))
const waiting = owned(samplePod('p', { phase: 'Pending' }))
const withStatuses = owned(samplePod('p', { ready: false, startedNotReady: true }))

const podChanges: [what: string, before: Pod | undefined, after: Pod | undefined][] = [
  ['is created', undefined, gated],
  ['loses its gate', gated, waiting],
  [
    'is bound, which changes its generation',
    waiting,
    owned(samplePod('p', { ready: false }), { generation: 2 }),
  ],
  ['reports its containers for the first time', onNode, withStatuses],
  ['becomes ready', onNode, owned(samplePod('p'))],
  ['fails', onNode, owned(samplePod('p', { phase: 'Failed' }))],
  [
    'is deleted, which changes its generation',
    onNode,
    owned(samplePod('p', { terminating: true }), { generation: 2 }),
  ],
  ['is gone', onNode, undefined],
]
for (const [what, before, after] of podChanges)
  test(`a pod that ${what} enqueues its clique`, () => {
    assert.deepEqual(enqueuedKeys(cliqueSources, {})('pods', before, after), ['serving/w-0-a'])
  })

test('pods and gangs of a terminating or deleted set do not enqueue cliques', () => {
  const labels = { [label.partOf]: 'w' }
  const pod = owned(samplePod('p', { labels }))
  const terminating = {
    ...set(1, undefined),
    metadata: { ...set(1, undefined).metadata, deletionTimestamp: 'now' },
  }
  for (const [sets, enqueued] of [
    [[set(1, undefined)], ['serving/w-0-a']],
    [[terminating], []],
    [[], []],
  ] as const) {
    const keysFor = enqueuedKeys(cliqueSources, { 'sets/w': [...sets] })
    assert.deepEqual(keysFor('pods', pod, undefined), enqueued)
    const held = gang('w-0-a')
    assert.deepEqual(
      keysFor('gangs', { ...held, metadata: { ...held.metadata, labels } }, undefined),
      enqueued,
    )
  }
})

test('a pod without an owner enqueues no key', () => {
  assert.deepEqual(enqueuedKeys(cliqueSources, {})('pods', undefined, samplePod('p')), [])
})

const gang = (...groups: string[]) => ({
  metadata: { name: 'w-0', namespace: 'serving' },
  spec: {
    podgroups: groups.map(name => ({
      name,
      minReplicas: 1,
      // Names of pods do not identify their clique.
      podReferences: [{ namespace: 'serving', name: 'other-x1' }],
    })),
  },
})

test('a gang enqueues the cliques that it lists or listed, by the names of cliques and not of pods', () => {
  const enqueued = enqueuedKeys(cliqueSources, {})
  assert.deepEqual(enqueued('gangs', undefined, gang('w-0-a', 'w-0-b')), ['serving/w-0-a', 'serving/w-0-b'])
  assert.deepEqual(enqueued('gangs', gang('w-0-a'), gang('w-0-b')), ['serving/w-0-a', 'serving/w-0-b'])
  assert.deepEqual(enqueued('gangs', gang('w-0-a'), undefined), ['serving/w-0-a'])
})

const clique = (name: string, more: object = {}) => ({
  metadata: { name, namespace: 'serving', generation: 1, ...more },
  spec: { replicas: 1 },
})
const scheduled = (name: string, scheduledReplicas: number, labels: Record<string, string>) => ({
  ...clique(name, { labels }),
  status: { scheduledReplicas },
})

test('a scheduled clique of a base gang enqueues the cliques of its scaled gangs, and no others', () => {
  const enqueued = enqueuedKeys(cliqueSources, {
    'cliques/basePodGang/serving/w-0': [clique('w-0-g-1-a'), clique('w-0-g-2-a')],
  })
  const base = { [label.podGang]: 'w-0' }
  const all = ['serving/w-0-g-1-a', 'serving/w-0-g-2-a']
  assert.deepEqual(enqueued('cliques', scheduled('w-0-a', 0, base), scheduled('w-0-a', 1, base)), all)
  assert.deepEqual(enqueued('cliques', scheduled('w-0-a', 2, base), scheduled('w-0-a', 1, base)), [])
  const behind = { [label.podGang]: 'w-0-g-0', [label.basePodGang]: 'w-0' }
  assert.deepEqual(
    enqueued('cliques', scheduled('w-0-g-1-a', 0, behind), scheduled('w-0-g-1-a', 1, behind)),
    [],
  )
})

test('a recreated base gang enqueues the cliques of its scaled gangs; a change of its pod references does not', () => {
  const enqueued = enqueuedKeys(cliqueSources, { 'cliques/basePodGang/serving/w-0': [clique('w-0-g-1-a')] })
  assert.deepEqual(enqueued('gangs', undefined, gang('w-0-a')), ['serving/w-0-a', 'serving/w-0-g-1-a'])
  assert.deepEqual(enqueued('gangs', gang('w-0-a'), gang('w-0-a')), ['serving/w-0-a'])
})

test('enqueues a clique when its spec, labels or owner change, not when its status does', () => {
  const enqueued = enqueuedKeys(cliqueSources, {})
  const before = clique('w-0-a')
  assert.deepEqual(enqueued('cliques', undefined, before), ['serving/w-0-a'])
  assert.deepEqual(enqueued('cliques', before, clique('w-0-a', { generation: 2 })), ['serving/w-0-a'])
  assert.deepEqual(enqueued('cliques', before, clique('w-0-a', { labels: { a: 'b' } })), ['serving/w-0-a'])
  // The operator ignores events of a clique without a controller, so the adoption has to enqueue it.
  const adopted = clique('w-0-a', {
    ownerReferences: [{ kind: 'PodCliqueSet', name: 'w', controller: true }],
  })
  assert.deepEqual(enqueued('cliques', before, adopted), ['serving/w-0-a'])
  assert.deepEqual(enqueued('cliques', before, { ...before, status: { readyReplicas: 1 } }), [])
})

test('enqueues a clique whose status another client removes', () => {
  const enqueued = enqueuedKeys(cliqueSources, {})
  const before = {
    ...clique('w-0-a'),
    status: { conditions: [{ type: 'PodCliqueScheduled', status: 'True' }] },
  }
  assert.deepEqual(enqueued('cliques', before, { ...before, status: {} }), ['serving/w-0-a'])
  assert.deepEqual(enqueued('cliques', { ...before, status: {} }, before), [])
})

const member = (more: object) => ({
  ...clique('w-0-g-0-a', { labels: { [label.scalingGroup]: 'w-0-g' } }),
  ...more,
})

test('enqueues a group when a member is created, deleted or reports a new status', () => {
  const enqueued = enqueuedKeys(groupSources, {})
  const group = ['serving/w-0-g']
  assert.deepEqual(enqueued('cliques', undefined, member({})), group)
  assert.deepEqual(enqueued('cliques', member({}), undefined), group)
  assert.deepEqual(enqueued('cliques', member({}), member({ status: { readyReplicas: 1 } })), group)
  assert.deepEqual(enqueued('cliques', member({}), member({})), [])
  assert.deepEqual(enqueued('cliques', undefined, clique('w-0-a')), [], 'a standalone clique')
  assert.deepEqual(enqueued('cliques', member({}), clique('w-0-g-0-a')), group, 'its label is removed')
})

const set = (generation: number, updating: number[] | undefined, currentGenerationHash = 'g') => ({
  metadata: { name: 'w', namespace: 'serving', generation },
  spec: { replicas: 2, template: { cliques: [] } },
  status: {
    currentGenerationHash,
    ...(updating && {
      updateProgress: {
        updateStartedAt: '2030-01-01T00:00:00Z',
        currentlyUpdating: updating.map(replicaIndex => ({ replicaIndex })),
      },
    }),
  },
})
const ofReplica = (name: string, replica: number) =>
  clique(name, { labels: { [label.setReplicaIndex]: String(replica) } })

test('enqueues groups and cliques when their replica is selected, also if the update starts with the selection', () => {
  for (const [sources, kind] of [
    [groupSources, 'groups'],
    [cliqueSources, 'cliques'],
  ] as const) {
    const children = [ofReplica('w-0-x', 0), ofReplica('w-1-x', 1)]
    const both = ['serving/w-0-x', 'serving/w-1-x']
    const enqueued = enqueuedKeys(sources, {
      [`${kind}/set/serving/w`]: children,
      ...Object.fromEntries(
        children.map((child, replica) => [
          `${kind}/replica/${setReplicaKey('serving', 'w', replica)}`,
          [child],
        ]),
      ),
    })
    assert.deepEqual(enqueued('sets', set(1, undefined), set(1, [1])), ['serving/w-1-x'])
    assert.deepEqual(enqueued('sets', set(1, []), set(1, [0])), ['serving/w-0-x'])
    assert.deepEqual(enqueued('sets', set(1, [0]), set(1, [1])), ['serving/w-1-x'])
    assert.deepEqual(enqueued('sets', set(1, [0]), set(1, [0])), [])
    // Groups create their members from the announced revision. Cliques follow it only if their update has started.
    const announced = kind === 'groups' ? both : ['serving/w-1-x']
    assert.deepEqual(enqueued('sets', set(1, [1]), set(1, [1], 'h')), announced)
    assert.deepEqual(enqueued('sets', set(1, undefined), set(2, undefined)), both)
  }
})
