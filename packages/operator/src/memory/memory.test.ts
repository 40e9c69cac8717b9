// SPDX-License-Identifier: Apache-2.0

// Tests that every entry is dropped with the object that it belongs to.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeClock, type KubeObject, type Resource, type Stored } from '@grove/kube'
import { resources } from '../caches/resources.ts'
import { gangKey } from '../layout/gang-key.ts'
import type { StoredScalingGroup, StoredSet } from '../layout/stored.ts'
import { clique, group, sampleSet } from '../testing/sample-set.ts'
import { SimulatedApi } from '../testing/simulation/api.ts'
import { converge } from '../testing/simulation/convergence.ts'
import { Simulation, setName } from '../testing/simulation/simulation.ts'
import { Memory } from './memory.ts'

const shape = sampleSet({ name: setName, cliques: [clique('web')], groups: [] })

function harness() {
  const clock = new FakeClock()
  const api = new SimulatedApi(clock)
  const memory = new Memory(api.caches, clock)
  const replicas = memory.replicas((_, __, children) => children.cliqueNamed('w-0-web'))
  const set = api.put(resources.podCliqueSets, shape as never) as StoredSet
  const child = api.put(resources.podCliques, {
    metadata: { name: 'w-0-web', namespace: 'serving' },
    spec: { replicas: 1 },
  } as never)
  const gang = gangKey('serving/w/0')
  /** Adds an entry to every holder, except to the one whose entries last for one call. */
  const fill = () => {
    memory.removals.leavePods(set, ['uid of a clique'])
    memory.schedulers.set(set, 'default-scheduler')
    memory.terminatingSince.set(set, 1)
    memory.terminatingNamespaces.set(set, true)
    memory.gangFailures.set(set, new Map([[gang, new Error('rejected')]]))
    memory.incompleteGangs.set(set, new Map([[gang, 1]]))
    memory.tokens.set(set, { account: 'uid of an account' })
    memory.terminationNotices.set(set, new Map([[0, 1]]))
    memory.syncs.set(set, { changes: 1, changesOfChildren: 1 })
  }
  return { api, memory, replicas, set, child, fill }
}

const allOf = (memory: Memory, size: number) =>
  Object.fromEntries(Object.keys(memory.sizes()).map(name => [name, size]))

test('drops every entry of a set and of its children when they are gone', async () => {
  const { api, memory, replicas, set, child, fill } = harness()
  fill()
  replicas.all(set, 1)
  memory.statusDebounce.delayMs(child.metadata.uid)
  const group = { metadata: { uid: 'uid of a scaling group' } } as StoredScalingGroup
  await memory.removals.during(set, [0], () =>
    memory.groupRemovals.during(group, [0], async () =>
      assert.deepEqual(memory.sizes(), allOf(memory, 1), 'every holder has an entry'),
    ),
  )
  api.remove(resources.podCliqueSets as never, set as never)
  api.remove(resources.podCliques as never, child as never)
  assert.deepEqual(memory.sizes(), allOf(memory, 0))
})

test('a reconcile that ends after its set is gone adds no entry', () => {
  const { api, memory, set, fill } = harness()
  api.remove(resources.podCliqueSets as never, set as never)
  fill()
  assert.deepEqual(memory.sizes(), allOf(memory, 0))
})

test('a set of the same name has another UID and starts without entries', () => {
  const { api, memory, set, fill } = harness()
  fill()
  api.remove(resources.podCliqueSets as never, set as never)
  const { uid: _, ...metadata } = set.metadata
  const next = api.put(resources.podCliqueSets, { ...set, metadata } as never) as StoredSet
  assert.equal(memory.schedulers.get(next), undefined)
  assert.equal(memory.removals.podsLeft(next).size, 0)
})

test('keeps nothing of a set that was updated, scaled, rejected by the API server and deleted', async () => {
  const simulation = new Simulation({
    seed: 7,
    set: sampleSet({
      name: setName,
      replicas: 3,
      cliques: [clique('web', { replicas: 2 }), clique('work')],
      groups: [group('g', ['work'], 2, 1)],
      template: { terminationDelay: '1h' },
    }),
    nodes: 2,
    places: 50,
    observer: { reconcileBegins: () => {}, patches: () => {}, deletes: () => {}, inspects: () => {} },
  })
  const { api } = simulation
  simulation.faults = 20
  await converge(simulation, 20)
  for (const replicas of [1, 3]) {
    api.modify(resources.podCliqueSets, setName, { spec: { replicas } })
    simulation.nodes.fail()
    await converge(simulation, 5)
  }
  simulation.faults = 0
  const { set } = simulation
  assert.ok(Object.values(simulation.memory.sizes()).some(size => size > 0))
  api.modify(resources.podCliqueSets, setName, {
    metadata: { deletionTimestamp: new Date(simulation.clock.now()).toISOString() },
  })
  await simulation.reconcileAll()
  const removeAll = (resource: Resource) => {
    for (const object of api.list(resource)) api.remove(resource, object as Stored<KubeObject>)
  }
  removeAll(resources.podCliqueSets as unknown as Resource)
  await simulation.reconcileOne('gang', `${set.metadata.name}/0`)
  for (const resource of [resources.podCliqueScalingGroups, resources.podCliques, resources.podGangs])
    removeAll(resource as unknown as Resource)
  while (api.list(resources.pods).length > 0) removeAll(resources.pods as unknown as Resource)
  assert.deepEqual(simulation.memory.sizes(), allOf(simulation.memory, 0))
})
