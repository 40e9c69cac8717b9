// SPDX-License-Identifier: Apache-2.0

// Tests single reconciles of a scaling group: its members, events and errors.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gangTerminationInProgress, label, type PodClique, type PodCliqueScalingGroup } from '@grove/api'
import { isConflict, type Stored } from '@grove/kube'
import { resources } from '../caches/resources.ts'
import type { StoredSet } from '../layout/stored.ts'
import { findCondition } from '../state/conditions.ts'
import { clique, group, sampleSet } from '../testing/sample-set.ts'
import { errorsOf, type WatchedSet, watchedSet } from '../testing/simulation/watched-set.ts'

const set = sampleSet({
  name: 'w',
  // One name is a suffix of the other.
  cliques: [clique('worker'), clique('gpu-worker', { replicas: 2 })],
  groups: [group('g', ['worker', 'gpu-worker'], 3, 1)],
})
const name = 'w-0-g'

const groupOf = ({ simulation }: WatchedSet) =>
  simulation.api.get(resources.podCliqueScalingGroups, name) as Stored<PodCliqueScalingGroup>
const cliqueOf = ({ simulation }: WatchedSet, called: string) =>
  simulation.api.get(resources.podCliques, called) as Stored<PodClique> | undefined
const names = ({ simulation }: WatchedSet) => simulation.cliques.map(({ metadata }) => metadata.name).sort()
const modify = ({ simulation }: WatchedSet, patch: object) =>
  simulation.api.modify(resources.podCliqueScalingGroups, name, patch)
const scale = (watched: WatchedSet, replicas: number) => modify(watched, { spec: { replicas } })
const reconcile = ({ simulation }: WatchedSet) => simulation.reconcileOne('group', name)
const remove = ({ simulation }: WatchedSet, one: Stored<PodClique>) =>
  simulation.api.remove(resources.podCliques as never, one)

test('creates members from the template of their name, and emits events on the group', async () => {
  const watched = await watchedSet(set)
  scale(watched, 4)
  assert.equal(await reconcile(watched), undefined)
  assert.equal(cliqueOf(watched, 'w-0-g-3-worker')?.spec.replicas, 1)
  assert.equal(cliqueOf(watched, 'w-0-g-3-gpu-worker')?.spec.replicas, 2)
  const event = (member: string) =>
    `PodCliqueScalingGroup/${name} podcliquescalinggroup-controller Normal PodCliqueCreateSuccessful: PodClique serving/${member} created successfully`
  assert.deepEqual(watched.emitted, [event('w-0-g-3-worker'), event('w-0-g-3-gpu-worker')])
})

test('deletes the highest replicas, with or without gaps in the indexes, and emits events on the set', async () => {
  const watched = await watchedSet(set)
  scale(watched, 1)
  for (const one of ['w-0-g-1-worker', 'w-0-g-1-gpu-worker']) remove(watched, cliqueOf(watched, one)!)
  assert.equal(await reconcile(watched), undefined)
  assert.deepEqual(names(watched), ['w-0-g-0-gpu-worker', 'w-0-g-0-worker'])
  assert.deepEqual(watched.emitted, [
    'PodCliqueSet/w podcliqueset-controller Normal PodGangDeleteSuccessful: Deleted PodGang serving/w-0-g-1',
    `PodCliqueSet/w podcliquescalinggroup-controller Normal PodCliqueScalingGroupReplicaDeleteSuccessful: Deleted PodCliqueScalingGroup ${name} replicaIndex: 2`,
  ])
})

test('reports replicas whose deletion fails, and still creates missing members', async () => {
  const watched = await watchedSet(set)
  scale(watched, 2)
  remove(watched, cliqueOf(watched, 'w-0-g-0-worker')!)
  watched.reject(({ verb, resource }) => verb === 'delete' && resource !== 'podgangs')
  assert.ok(await reconcile(watched))
  assert.ok(cliqueOf(watched, 'w-0-g-0-worker'))
  assert.deepEqual(watched.emitted.slice(0, 2), [
    'PodCliqueSet/w podcliqueset-controller Normal PodGangDeleteSuccessful: Deleted PodGang serving/w-0-g-1',
    `PodCliqueSet/w podcliquescalinggroup-controller Warning PodCliqueScalingGroupReplicaDeleteFailed: Error deleting PodCliqueScalingGroup ${name} ReplicaIndex 2 : Forbidden: not today`,
  ])
  assert.deepEqual(errorsOf(groupOf(watched)), [
    'ERR_DELETE_PODCLIQUE failed to sync PodClique: [Operation: Sync, Code: ERR_DELETE_PODCLIQUE] message: Error deleting replicas 2, cause: Forbidden: not today',
  ])
})

test('reports members whose creation fails, and clears the errors when creation succeeds', async () => {
  const watched = await watchedSet(set)
  remove(watched, cliqueOf(watched, 'w-0-g-0-worker')!)
  watched.reject(({ verb }) => verb === 'create')
  assert.ok(await reconcile(watched))
  assert.deepEqual(watched.emitted, [
    `PodCliqueScalingGroup/${name} podcliquescalinggroup-controller Warning PodCliqueCreateFailed: PodClique serving/w-0-g-0-worker creation failed: Forbidden: not today`,
  ])
  assert.deepEqual(errorsOf(groupOf(watched)), [
    'ERR_CREATE_PODCLIQUES failed to sync PodClique: [Operation: Sync, Code: ERR_CREATE_PODCLIQUES] message: Error creating PodClique serving/w-0-g-0-worker, cause: Forbidden: not today',
  ])
  watched.reject()
  assert.equal(await reconcile(watched), undefined)
  await watched.simulation.clock.advance(1_000)
  await reconcile(watched)
  assert.deepEqual(errorsOf(groupOf(watched)), [])
})

test('a clique of another owner under the name of a member is reported until it is gone', async () => {
  const watched = await watchedSet(set)
  const { api } = watched.simulation
  const former = cliqueOf(watched, 'w-0-g-0-worker')!
  remove(watched, former)
  const { uid: _, ownerReferences, ...metadata } = former.metadata
  const owner = { ...ownerReferences![0]!, uid: 'a-former-group' }
  const foreign = api.put(resources.podCliques, {
    ...former,
    metadata: { ...metadata, ownerReferences: [owner] },
  } as never)
  assert.ok(await reconcile(watched))
  assert.match(
    errorsOf(groupOf(watched)).join(),
    /^ERR_CREATE_PODCLIQUES .*w-0-g-0-worker exists and is not controlled by this PodCliqueScalingGroup/,
  )
  assert.equal(groupOf(watched).status?.availableReplicas, 2, 'it does not become a member')
  assert.equal(cliqueOf(watched, 'w-0-g-0-worker')?.metadata.uid, foreign.metadata.uid)
  api.modify(resources.podCliques, 'w-0-g-0-worker', {
    metadata: { deletionTimestamp: '2030-01-01T00:00:00Z' },
  })
  assert.equal(
    await reconcile(watched),
    undefined,
    'waits for a terminating object of the same name: its deletion enqueues the group',
  )
  remove(watched, cliqueOf(watched, 'w-0-g-0-worker')!)
  assert.equal(await reconcile(watched), undefined)
  assert.notEqual(cliqueOf(watched, 'w-0-g-0-worker')?.metadata.uid, foreign.metadata.uid)
})

test('a member that exists but is not in the cache yet causes neither an error nor an event', async () => {
  const watched = await watchedSet(set)
  const { api } = watched.simulation
  const former = cliqueOf(watched, 'w-0-g-0-worker')!
  remove(watched, former)
  const { uid: _, ...metadata } = former.metadata
  api.hooks = {
    ...api.hooks,
    before: async ({ verb, resource }) => {
      if (verb === 'create' && resource === 'podcliques')
        api.put(resources.podCliques, { ...former, metadata } as never)
    },
  }
  assert.equal(await reconcile(watched), undefined)
  assert.deepEqual(watched.emitted, [])
  assert.deepEqual(errorsOf(groupOf(watched)), [])
})

test('repairs edited labels of members, and nothing else', async () => {
  const watched = await watchedSet(set)
  const member = 'w-0-g-2-worker'
  const before = cliqueOf(watched, member)!.metadata.labels!
  watched.simulation.api.modify(resources.podCliques, member, {
    metadata: {
      labels: { [label.scalingGroupReplicaIndex]: null, [label.basePodGang]: 'other', mine: 'kept' },
    },
  })
  watched.reject(({ verb }) => verb === 'patch')
  assert.ok(await reconcile(watched))
  watched.reject()
  watched.writes.length = 0
  assert.equal(await reconcile(watched), undefined)
  assert.deepEqual(cliqueOf(watched, member)!.metadata.labels, { ...before, mine: 'kept' })
  assert.deepEqual(watched.writes.filter(write => write === 'patch podcliques').length, 1)
})

for (const [labels, code, message] of [
  [{ [label.setReplicaIndex]: null }, 'ERR_MISSING_PODCLIQUESET_REPLICA_INDEX', /has no label/],
  [
    { [label.setReplicaIndex]: 'one' },
    'ERR_PODCLIQUESET_REPLICA_INDEX_CONVERSION',
    /"one", which is no index/,
  ],
  [
    { [label.setReplicaIndex]: '7' },
    'ERR_CREATE_PODCLIQUES',
    /defines no scaling group for PodCliqueScalingGroup w-0-g$/,
  ],
] as const)
  test(`reports a group that no template defines: ${code}`, async () => {
    const watched = await watchedSet(set)
    modify(watched, { metadata: { labels } })
    scale(watched, 5)
    assert.ok(await reconcile(watched))
    const [error] = errorsOf(groupOf(watched))
    assert.ok(error!.startsWith(`${code} failed to sync PodClique: `))
    assert.match(error!, message)
    assert.equal(names(watched).length, 6, 'no clique is created or deleted')
    assert.ok(groupOf(watched).status?.selector)
  })

test('with OnDelete members follow the template and cause one event; a rejection is reported', async () => {
  const watched = await watchedSet({
    ...set,
    spec: { ...set.spec, updateStrategy: { type: 'OnDelete' } },
  } as StoredSet)
  const cliques = structuredClone(watched.simulation.set.spec.template.cliques)
  cliques[0]!.spec.podSpec.containers[0]!.image = 'registry.example/main:2'
  const { template } = watched.simulation.set.spec
  watched.simulation.api.modify(resources.podCliqueSets, 'w', {
    spec: { template: { ...template, cliques } },
  })
  await watched.simulation.reconcileOne('set', 'w')
  watched.emitted.length = 0
  watched.reject(({ verb, resource, objects }) =>
    Boolean(verb === 'patch' && resource === 'podcliques' && objects[0]?.metadata.name.includes('-0-worker')),
  )
  assert.ok(await reconcile(watched))
  const event = (index: number, what: string) =>
    `PodCliqueScalingGroup/${name} podcliquescalinggroup-controller ${what.replace('ID', `serving/w-0-g-${index}-worker`)}`
  const applied = 'Normal PodCliqueCreateOrUpdateSuccessful: PodClique ID created or updated successfully'
  assert.deepEqual(watched.emitted.sort(), [
    event(1, applied),
    event(2, applied),
    event(
      0,
      'Warning PodCliqueCreateOrUpdateFailed: PodClique ID creation or update failed: Forbidden: not today',
    ),
  ])
  assert.match(errorsOf(groupOf(watched)).join(), /^ERR_CREATE_OR_UPDATE_PODCLIQUES failed to sync PodClique/)
  watched.reject()
  watched.emitted.length = 0
  assert.equal(await reconcile(watched), undefined)
  assert.deepEqual(watched.emitted, [event(0, applied)])
  watched.emitted.length = 0
  await watched.simulation.clock.advance(1_000)
  await reconcile(watched)
  watched.writes.length = 0
  await reconcile(watched)
  assert.deepEqual([watched.emitted, watched.writes], [[], []])
})

/** A set with a new image, and without one clique of the outdated replica 1 of the group. */
async function withOutdatedReplica(): Promise<WatchedSet> {
  const watched = await watchedSet(set)
  const { simulation } = watched
  const { template } = simulation.set.spec
  const cliques = structuredClone(template.cliques)
  for (const { spec } of cliques) spec.podSpec.containers[0]!.image = 'registry.example/main:2'
  simulation.api.modify(resources.podCliqueSets, 'w', { spec: { template: { ...template, cliques } } })
  await simulation.reconcileOne('set', 'w')
  await simulation.clock.advance(10_000)
  remove(watched, cliqueOf(watched, 'w-0-g-1-worker')!)
  watched.writes.length = 0
  return watched
}

test('deletes an outdated replica that lost a clique before it creates the missing clique', async () => {
  const watched = await withOutdatedReplica()
  await reconcile(watched)
  assert.deepEqual(
    watched.writes.filter(write => write.endsWith(' podcliques')),
    ['delete podcliques'],
  )
  assert.deepEqual(
    names(watched).filter(one => one.startsWith('w-0-g-1-')),
    [],
  )
  assert.equal(await reconcile(watched), undefined)
  assert.deepEqual(
    names(watched).filter(one => one.startsWith('w-0-g-1-')),
    ['w-0-g-1-gpu-worker', 'w-0-g-1-worker'],
  )
})

test('a clique creates no pod while its group replica is deleted, also if its pods are deleted first', async () => {
  const watched = await withOutdatedReplica()
  const { api } = watched.simulation
  const member = 'w-0-g-1-gpu-worker'
  const podsOf = () =>
    api
      .list(resources.pods)
      .filter(({ metadata }) => metadata.labels?.[label.podClique] === member && !metadata.deletionTimestamp)
  let remaining: number | undefined
  api.hooks = {
    ...api.hooks,
    // The garbage collector deletes pods of the first cliques before the request for all cliques has its response.
    before: async ({ verb, resource }) => {
      if (verb !== 'delete' || resource !== 'podcliques') return
      for (const one of podsOf()) api.remove(resources.pods as never, one)
      await watched.simulation.reconcileOne('clique', member)
      remaining = podsOf().length
    },
  }
  await reconcile(watched)
  assert.equal(remaining, 0)
  await reconcile(watched)
  await watched.simulation.reconcileOne('clique', member)
  assert.equal(podsOf().length, 2, 'the new clique creates its pods')
})

test('a terminating group creates no members, emits no events and loses its finalizer', async () => {
  const watched = await watchedSet(set)
  modify(watched, {
    metadata: {
      deletionTimestamp: '2030-01-01T00:00:00Z',
      finalizers: ['grove.io/podcliquescalinggroup.grove.io'],
    },
    spec: { replicas: 9 },
  })
  assert.equal(await reconcile(watched), undefined)
  assert.deepEqual(watched.writes, ['patch podcliquescalinggroups'])
  assert.deepEqual(groupOf(watched).metadata.finalizers, [])
  assert.equal(await reconcile(watched), undefined)
  assert.equal(watched.writes.length, 1)
})

test('does not overwrite a newer status', async () => {
  const watched = await watchedSet(set)
  const { api } = watched.simulation
  const mark = { ...gangTerminationInProgress(0), lastTransitionTime: '2030-01-01T00:00:00Z' }
  for (const member of watched.simulation.cliques) remove(watched, member as Stored<PodClique>)
  await reconcile(watched)
  api.modify(resources.podCliques, 'w-0-g-0-worker', { status: { readyReplicas: 1 } })
  let isMarked = false
  api.hooks = {
    ...api.hooks,
    // Runs between the read of the snapshot and the write.
    before: async ({ resource }) => {
      if (resource !== 'podcliquescalinggroups' || isMarked) return
      isMarked = true
      const conditions = [...(groupOf(watched).status?.conditions ?? []), mark]
      api.modify(resources.podCliqueScalingGroups, name, { status: { conditions } })
    },
  }
  scale(watched, 2)
  assert.equal(await reconcile(watched), undefined)
  // The status is pending until the debounce ends.
  await watched.simulation.clock.advance(1_000)
  const conflict = await reconcile(watched)
  assert.ok(isMarked && isConflict(conflict), `the response is ${conflict}`)
  assert.ok(findCondition(groupOf(watched).status?.conditions, mark.type))
  assert.equal(await reconcile(watched), undefined)
  assert.ok(findCondition(groupOf(watched).status?.conditions, mark.type), 'the group has not recovered yet')
  assert.equal(groupOf(watched).status?.replicas, 2)
})
