// SPDX-License-Identifier: Apache-2.0

// Counts the requests that delete a set, or replicas of a set.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { finalizer, label } from '@grove/api'
import { resources } from '../caches/resources.ts'
import { clique, group, sampleSet } from '../testing/sample-set.ts'
import { failure } from '../testing/simulation/api.ts'
import { converge } from '../testing/simulation/convergence.ts'
import { RecordedSimulation } from '../testing/simulation/recorded.ts'
import { setName } from '../testing/simulation/simulation.ts'
import { domainsHeldMs } from '../timings/timings.ts'

async function convergedSet(replicas: number): Promise<RecordedSimulation> {
  const web = clique('web', { replicas: 2 })
  const autoScalingConfig = { minReplicas: 2, maxReplicas: 4 }
  const simulation = new RecordedSimulation(
    sampleSet({
      name: setName,
      replicas,
      cliques: [{ ...web, spec: { ...web.spec, autoScalingConfig } }, clique('work')],
      groups: [group('g', ['work'], 2, 1)],
    }),
  )
  assert.ok(await converge(simulation, 60))
  await simulation.reconcileAll()
  // On a real cluster the garbage collector is slower than these requests.
  simulation.api.collectsGarbage = false
  return simulation
}

function countsOf(writes: readonly string[]): Record<string, number> {
  const groups = Object.groupBy(writes, write => write)
  return Object.fromEntries(Object.entries(groups).map(([write, sent]) => [write, sent!.length]))
}

/** Like the API server: the set exists until its last finalizer is removed. */
function markDeleted(simulation: RecordedSimulation, skewMs = 0): void {
  const metadata = { deletionTimestamp: new Date(simulation.clock.now() + skewMs).toISOString() }
  simulation.api.modify(resources.podCliqueSets, setName, { metadata })
}

test('deletes a set with six requests, its identity included, and one more for each Service and autoscaler', async () => {
  for (const replicas of [1, 30]) {
    const simulation = await convergedSet(replicas)
    assert.equal(simulation.api.list(resources.pods).length, 4 * replicas)
    markDeleted(simulation)
    assert.equal(await simulation.reconcileSet(), undefined)
    assert.deepEqual(countsOf(simulation.writes), {
      'delete horizontalpodautoscalers': replicas,
      'delete podcliques': 1,
      'delete podcliquescalinggroups': 1,
      'delete podgangs': 1,
      'delete pods': 1,
      'delete rolebindings': 1,
      'delete roles': 1,
      'delete serviceaccounts': 1,
      'delete services': replicas,
      'patch podcliquesets': 1,
    })
    assert.deepEqual(simulation.writes.slice(-2), ['delete pods', 'patch podcliquesets'])
    assert.deepEqual(simulation.set.metadata.finalizers ?? [], [])
    assert.ok(simulation.api.list(resources.pods).every(({ metadata }) => metadata.deletionTimestamp))
    assert.deepEqual(simulation.events, [])
  }
})

test('creates no object for a terminating set', async () => {
  const simulation = await convergedSet(2)
  markDeleted(simulation)
  // Another finalizer keeps the set, as in a foreground deletion.
  for (const held of [[finalizer.podCliqueSet, 'example.com/held'], ['example.com/held']]) {
    simulation.api.modify(resources.podCliqueSets, setName, { metadata: { finalizers: held } })
    for (const pod of simulation.api.list(resources.pods).slice(0, 3))
      simulation.api.remove(resources.pods as never, pod)
    simulation.writes.length = 0
    await simulation.reconcileAll()
    assert.deepEqual(
      simulation.writes.filter(write => write.startsWith('create')),
      [],
    )
  }
  simulation.writes.length = 0
  await simulation.reconcileAll()
  assert.deepEqual(simulation.writes, [], 'without its finalizer the operator does nothing')
})

test('deletion with --cascade=orphan keeps the children, even if the garbage collector is faster than the operator', async () => {
  for (const isReleased of [false, true]) {
    const simulation = await convergedSet(1)
    markDeleted(simulation)
    if (isReleased)
      for (const { metadata } of simulation.cliques.filter(one => one.metadata.name === 'w-0-web'))
        simulation.api.modify(resources.podCliques, metadata.name, { metadata: { ownerReferences: null } })
    else
      simulation.api.modify(resources.podCliqueSets, setName, {
        metadata: { finalizers: [finalizer.podCliqueSet, 'orphan'] },
      })
    await simulation.reconcileSet()
    assert.deepEqual(simulation.writes, ['patch podcliquesets'])
    assert.deepEqual(simulation.set.metadata.finalizers ?? [], isReleased ? [] : ['orphan'])
    assert.equal(simulation.api.list(resources.pods).filter(pod => !pod.metadata.deletionTimestamp).length, 4)
  }
})

test('deletion with --cascade=orphan keeps the children, even if their cache is older than that of the set', async () => {
  for (const kept of ['cliques', 'groups'] as const) {
    const simulation = await convergedSet(1)
    const { api } = simulation
    const { caches } = api
    // The garbage collector has removed all owner references. The cache shows only the change of the set.
    for (const name of ['cliques', 'groups'] as const) {
      const before = name === kept ? caches[name].list() : []
      const byIndex = (_: string, key: string) =>
        before.filter(({ metadata }) => key.includes('/') || metadata.ownerReferences?.[0]?.uid === key)
      Object.assign(caches[name], { list: () => before, byIndex })
    }
    const orphaned = { metadata: { ownerReferences: null } }
    for (const { metadata } of simulation.cliques) api.modify(resources.podCliques, metadata.name, orphaned)
    for (const { metadata } of simulation.groups)
      api.modify(resources.podCliqueScalingGroups, metadata.name, orphaned)
    markDeleted(simulation)
    await simulation.reconcileSet()
    assert.deepEqual(simulation.writes, ['patch podcliquesets'])
  }
})

test('failing collection deletes do not block the set: the garbage collector deletes the rest', async () => {
  const simulation = await convergedSet(1)
  markDeleted(simulation)
  simulation.reject = ({ verb, resource }) => (verb === 'delete' ? failure('Forbidden', resource) : undefined)
  assert.equal(await simulation.reconcileSet(), undefined)
  assert.deepEqual(simulation.set.metadata.finalizers ?? [], [])
})

test('retries throttled deletes instead of leaving them to the garbage collector', async () => {
  const simulation = await convergedSet(1)
  markDeleted(simulation)
  simulation.reject = ({ resource }) =>
    resource === 'pods' ? failure('TooManyRequests', resource) : undefined
  assert.notEqual(await simulation.reconcileSet(), undefined)
  assert.deepEqual(simulation.set.metadata.finalizers, [finalizer.podCliqueSet])
  simulation.reject = () => undefined
  assert.equal(await simulation.reconcileSet(), undefined)
  assert.ok(simulation.writes.includes('delete pods'))
  assert.deepEqual(simulation.set.metadata.finalizers ?? [], [])
})

test('after a lost response, the operator deletes each remaining child by UID and sends no second collection delete', async () => {
  const simulation = await convergedSet(1)
  markDeleted(simulation)
  let lost = 0
  simulation.reject = ({ resource }) =>
    resource === 'pods' && lost++ === 0 ? failure('Internal', resource) : undefined
  assert.equal(await simulation.reconcileSet(), undefined)
  assert.equal(simulation.writes.filter(write => write === 'delete pods').length, 1 + 4)
  assert.ok(simulation.api.list(resources.pods).every(({ metadata }) => metadata.deletionTimestamp))
})

test('the status reports why a set cannot be deleted, unless the next attempt succeeds', async () => {
  const simulation = await convergedSet(1)
  markDeleted(simulation)
  const holding = (code: 'Conflict' | 'Internal') => {
    simulation.reject = ({ patch }) =>
      JSON.stringify(patch ?? '').includes('finalizers') ? failure(code, 'w') : undefined
  }
  holding('Conflict')
  await simulation.reconcileSet()
  assert.deepEqual(simulation.lastErrors, [])
  holding('Internal')
  assert.notEqual(await simulation.reconcileSet(), undefined)
  assert.deepEqual(simulation.lastErrors, ['ERR_UPDATE_PCS_STATUS Internal: w'])
  await simulation.reconcileSet()
  assert.deepEqual(simulation.writes, ['patch podcliquesets'], 'terminating objects are not deleted again')
})

test('deletes replicas with three requests, and one more for each of their gangs, Services and autoscalers', async () => {
  const simulation = await convergedSet(20)
  const kept = simulation.cliques.filter(({ metadata }) => metadata.name.startsWith('w-0-'))
  simulation.api.modify(resources.podCliqueSets, setName, { spec: { replicas: 1 } })
  await simulation.reconcileSet()
  assert.deepEqual(countsOf(simulation.writes), {
    'delete pods': 1,
    'delete podcliques': 1,
    'delete podcliquescalinggroups': 1,
    'delete services': 19,
    'delete horizontalpodautoscalers': 19,
    'delete podgangs': 2 * 19,
    'patch podcliquesets': 1,
  })
  assert.deepEqual(
    simulation.cliques.map(({ metadata }) => metadata.uid),
    kept.map(({ metadata }) => metadata.uid),
  )
})

for (const [what, skewMs] of [
  ['an hour behind the clock of the operator', -3_600_000],
  ['that of the operator', 0],
  ['an hour ahead of the clock of the operator', 3_600_000],
] as const)
  test(`NVLink domains are held for a minute while pods use them; the clock of the API server is ${what}`, async () => {
    const simulation = await convergedSet(1)
    const { apiVersion, kind, metadata } = simulation.set
    const owner = { apiVersion, kind, name: metadata.name, uid: metadata.uid, controller: true }
    simulation.api.put(resources.computeDomains, {
      metadata: {
        namespace: metadata.namespace,
        name: 'w-0-fabric',
        labels: { [label.setReplicaIndex]: '0' },
        finalizers: [finalizer.computeDomain],
        ownerReferences: [owner],
      },
    } as never)
    markDeleted(simulation, skewMs)
    const isHeld = () => simulation.set.metadata.finalizers?.includes(finalizer.podCliqueSet)
    await simulation.reconcileSet()
    assert.ok(isHeld(), 'its pods are terminating')
    await simulation.clock.advance(domainsHeldMs - 1)
    await simulation.reconcileSet()
    assert.ok(isHeld())
    await simulation.clock.advance(1)
    await simulation.reconcileSet()
    assert.deepEqual(simulation.writes, [
      'patch computedomains',
      'delete computedomains',
      'patch podcliquesets',
    ])
  })
