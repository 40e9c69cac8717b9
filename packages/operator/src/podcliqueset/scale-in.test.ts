// SPDX-License-Identifier: Apache-2.0

// Tests replicas that are wanted again while they are being deleted.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '@grove/api'
import type { KubeObject, Resource, Stored } from '@grove/kube'
import { resources } from '../caches/resources.ts'
import { keyOf } from '../layout/object-key.ts'
import { isTerminating } from '../state/pod-state.ts'
import { clique, group, sampleSet } from '../testing/sample-set.ts'
import { failure, type SimulatedApi } from '../testing/simulation/api.ts'
import { converge } from '../testing/simulation/convergence.ts'
import { watchedSet } from '../testing/simulation/watched-set.ts'

const set = sampleSet({
  name: 'w',
  cliques: [clique('web', { replicas: 2 }), clique('work')],
  groups: [group('g', ['work'], 3, 2)],
})

test('recreates a replica that is wanted again during its deletion only after it is gone', async () => {
  const { simulation, writes } = await watchedSet(set)
  const { api } = simulation
  const uidsOf = (resource: Resource<KubeObject>) =>
    new Set(api.list(resource).map(({ metadata }) => metadata.uid))
  const before = [resources.pods, resources.podCliques].map(uidsOf)
  const { client } = api.caches
  const remove = client.deleteCollection
  const tooEarly: string[] = []
  Object.assign(client, {
    deleteCollection: async (resource: Resource<KubeObject>, options: object) => {
      const response = await remove.call(client, resource, options)
      api.modify(resources.podCliqueSets, 'w', { spec: { replicas: 1 } })
      writes.length = 0
      for (const name of ['w-0-web', 'w-0-g-0-work']) await simulation.reconcileOne('clique', name)
      await simulation.reconcileOne('group', 'w-0-g')
      for (const gang of ['w/0', 'w/0/w-0-g/2']) await simulation.reconcileOne('gang', gang)
      tooEarly.push(...writes.filter(write => write.startsWith('create') || write.includes('podgangs')))
      return response
    },
  })
  api.modify(resources.podCliqueSets, 'w', { spec: { replicas: 0 } })
  await simulation.reconcileOne('set', 'w')
  assert.deepEqual(tooEarly, [])
  assert.ok(await converge(simulation, 60))
  const after = [resources.pods, resources.podCliques].map(uidsOf)
  assert.deepEqual(
    after.map(({ size }) => size),
    before.map(({ size }) => size),
  )
  for (const [at, uids] of before.entries()) for (const uid of uids) assert.ok(!after[at]!.has(uid))
})

test('signals the end of a failed removal, so that the cliques of the replica are reconciled again', async () => {
  const { simulation } = await watchedSet(set)
  const { api } = simulation
  const ended: unknown[] = []
  simulation.memory.removals.onEnd((set, replicas) => ended.push([keyOf(set), ...replicas]))
  Object.assign(api.caches.client, {
    deleteCollection: async () => {
      assert.deepEqual(ended, [])
      throw failure('Forbidden', 'not today')
    },
  })
  api.modify(resources.podCliqueSets, 'w', { spec: { replicas: 0 } })
  assert.ok(await simulation.reconcileOne('set', 'w'))
  assert.deepEqual(ended, [['serving/w', 0]])
})

test('recreates the pods of a replica that could not be deleted and is wanted again', async () => {
  const { simulation, reject } = await watchedSet(set)
  const { api } = simulation
  const count = () => (api.list(resources.pods) as Pod[]).filter(pod => !isTerminating(pod)).length
  const before = count()
  reject(({ verb, resource }) => verb === 'delete' && resource === 'podcliques')
  api.modify(resources.podCliqueSets, 'w', { spec: { replicas: 0 } })
  assert.ok(await simulation.reconcileOne('set', 'w'))
  assert.equal(count(), 2, 'a remaining clique keeps its pods; the group is deleted with its members')
  reject()
  api.modify(resources.podCliqueSets, 'w', { spec: { replicas: 1 } })
  assert.ok(await converge(simulation, 60))
  assert.equal(count(), before)
})

test('deletes pods whose deletion failed after that of their cliques in the next reconcile', async () => {
  const { simulation, reject, writes } = await watchedSet(set)
  const { api } = simulation
  api.collectsGarbage = false
  const staying = () => api.list(resources.pods).filter(({ metadata }) => !metadata.deletionTimestamp).length
  const before = staying()
  reject(({ verb, resource }) => verb === 'delete' && resource === 'pods')
  api.modify(resources.podCliqueSets, 'w', { spec: { replicas: 0 } })
  assert.ok(await simulation.reconcileOne('set', 'w'))
  assert.deepEqual([simulation.cliques, simulation.groups, api.list(resources.podGangs)], [[], [], []])
  assert.equal(staying(), before)
  reject()
  writes.length = 0
  assert.equal(await simulation.reconcileOne('set', 'w'), undefined)
  assert.equal(staying(), 0)
  assert.deepEqual(
    writes.filter(write => write.startsWith('delete')),
    ['delete pods'],
  )
})

for (const [what, begin, isRemoved] of [
  [
    'replicas of a set',
    api => api.modify(resources.podCliqueSets, 'w', { spec: { replicas: 1 } }),
    ({ labels = {} }) => Number(labels['grove.io/podcliqueset-replica-index']) >= 1,
  ],
  [
    'replicas of a scaling group',
    api => api.modify(resources.podCliqueScalingGroups, 'w-0-g', { spec: { replicas: 2 } }),
    ({ name = '' }) => ['w-0-g-2-work', 'w-0-g-0'].includes(name) || name.startsWith('w-0-g-2-work-'),
  ],
  [
    'a whole set',
    api =>
      api.modify(resources.podCliqueSets, 'w', { metadata: { deletionTimestamp: '2030-01-01T00:00:00Z' } }),
    () => true,
  ],
] as const satisfies readonly [
  string,
  (api: SimulatedApi) => void,
  (metadata: Stored<KubeObject>['metadata']) => boolean,
][])
  test(`no parent is left when the last pod of ${what} is gone, however fast pods terminate`, async () => {
    const { simulation } = await watchedSet({ ...set, spec: { ...set.spec, replicas: 3 } })
    const { api } = simulation
    api.collectsGarbage = false
    const leftOf = (resource: unknown) =>
      api
        .list(resource as Resource<KubeObject>)
        .filter(({ metadata }) => isRemoved(metadata))
        .filter(({ metadata }) => !metadata.deletionTimestamp)
    const parents = [
      resources.podCliques,
      resources.podCliqueScalingGroups,
      resources.podGangs,
      resources.services,
    ]
    const { before, after } = api.hooks
    let podsGone = 0
    const tooLate: string[] = []
    api.hooks = {
      before,
      after: write => {
        after(write)
        if (write.verb !== 'delete' || write.resource !== 'pods') return
        // The kubelets terminate the pods before the next request.
        for (const pod of api.list(resources.pods))
          if (pod.metadata.deletionTimestamp && isRemoved(pod.metadata)) {
            api.remove(resources.pods as never, pod)
            podsGone++
          }
        if (leftOf(resources.pods).length > 0) return
        tooLate.push(...parents.flatMap(leftOf).map(({ kind, metadata }) => `${kind} ${metadata.name}`))
      },
    }
    begin(api)
    for (const [kind, name] of [
      ['group', 'w-0-g'],
      ['set', 'w'],
    ] as const)
      assert.equal(await simulation.reconcileOne(kind, name), undefined)
    assert.ok(podsGone > 0)
    assert.deepEqual(tooLate, [])
    assert.deepEqual(leftOf(resources.pods), [])
  })
