// SPDX-License-Identifier: Apache-2.0

// Tests single reconciles of a clique: errors in its status, events, and independence of failures.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod, PodClique, Secret } from '@grove/api'
import type { Stored } from '@grove/kube'
import { resources } from '../caches/resources.ts'
import { findCondition } from '../state/conditions.ts'
import { isTerminating } from '../state/pod-state.ts'
import { clique, group, sampleSet } from '../testing/sample-set.ts'
import { errorsOf, type WatchedSet, watchedSet } from '../testing/simulation/watched-set.ts'
import { tokenReadValidMs } from '../timings/timings.ts'

const set = sampleSet({ name: 'w', cliques: [clique('web', { replicas: 2, minAvailable: 1 })] })
const web = 'w-0-web'

const pods = ({ simulation }: WatchedSet) =>
  (simulation.api.list(resources.pods) as Stored<Pod>[]).filter(pod => !isTerminating(pod))
const cliqueOf = ({ simulation }: WatchedSet, name = web) =>
  simulation.api.get(resources.podCliques, name) as Stored<PodClique>
const scale = ({ simulation }: WatchedSet, replicas: number) =>
  simulation.api.modify(resources.podCliques, web, { spec: { replicas } })
const kill = ({ simulation }: WatchedSet, pod: Stored<Pod>) => simulation.api.remove(resources.pods, pod)

test('emits one event on the clique for each created and each deleted pod', async () => {
  const watched = await watchedSet(set)
  scale(watched, 3)
  await watched.simulation.reconcileOne('clique', web)
  const [made] = pods(watched).filter(pod => pod.spec?.hostname === `${web}-2`)
  const name = made!.metadata.name
  assert.deepEqual(watched.emitted, [
    `PodClique/${web} podclique-controller Normal PodCreateSuccessful: Created Pod: ${name}`,
  ])
  watched.emitted.length = 0
  scale(watched, 2)
  await watched.simulation.reconcileOne('clique', web)
  assert.deepEqual(watched.emitted, [
    `PodClique/${web} podclique-controller Normal PodDeleteSuccessful: Deleted Pod: ${name}`,
  ])
  watched.emitted.length = 0
  for (let attempt = 0; attempt < 3; attempt++) await watched.simulation.reconcileOne('clique', web)
  assert.deepEqual(watched.emitted, [])
})

test('reports pods that cannot be created as an event and an error, and removes the error when they can', async () => {
  const watched = await watchedSet(set)
  kill(watched, pods(watched)[0]!)
  watched.reject(({ verb }) => verb === 'create')
  assert.ok(await watched.simulation.reconcileOne('clique', web))
  assert.deepEqual(watched.emitted, [
    `PodClique/${web} podclique-controller Warning PodCreateFailed: Error creating pod : Forbidden: not today`,
  ])
  assert.deepEqual(errorsOf(cliqueOf(watched)), [
    `ERR_CREATE_POD failed to sync Pod: [Operation: Sync, Code: ERR_CREATE_POD] message: Error creating pod ${web}-0, cause: Forbidden: not today`,
  ])
  watched.reject()
  assert.equal(await watched.simulation.reconcileOne('clique', web), undefined)
  await watched.simulation.clock.advance(1_000)
  await watched.simulation.reconcileOne('clique', web)
  assert.deepEqual(errorsOf(cliqueOf(watched)), [])
})

test('a first reconcile that fails still writes conditions, counts and the generation', async () => {
  const watched = await watchedSet(set)
  const { simulation } = watched
  simulation.api.remove(resources.podCliques as never, cliqueOf(watched))
  await simulation.reconcileOne('set', 'w')
  watched.reject(({ verb, resource }) => verb === 'create' && resource === 'pods')
  assert.ok(await simulation.reconcileOne('clique', web))
  const { status } = cliqueOf(watched)
  assert.equal(status?.observedGeneration, 1)
  assert.equal(findCondition(status.conditions, 'PodCliqueScheduled')?.status, 'False')
  assert.equal(findCondition(status.conditions, 'MinAvailableBreached')?.reason, 'InsufficientScheduledPods')
  assert.equal(errorsOf(cliqueOf(watched)).length, 2)
})

test('reports surplus pods whose deletion fails, and ignores pods that are gone', async () => {
  const watched = await watchedSet(set)
  scale(watched, 1)
  watched.reject(({ verb }) => verb === 'delete')
  const [kept, surplus] = pods(watched).sort((a, b) => (a.spec!.hostname! < b.spec!.hostname! ? -1 : 1))
  assert.ok(await watched.simulation.reconcileOne('clique', web))
  assert.deepEqual(watched.emitted, [
    `PodClique/${web} podclique-controller Warning PodDeleteFailed: Error deleting pod: Forbidden: not today`,
  ])
  assert.deepEqual(errorsOf(cliqueOf(watched)), [
    `ERR_DELETE_POD failed to sync Pod: [Operation: Sync, Code: ERR_DELETE_POD] message: Error deleting pod ${surplus!.metadata.name}, cause: Forbidden: not today`,
  ])
  watched.reject()
  assert.equal(await watched.simulation.reconcileOne('clique', web), undefined)
  assert.deepEqual(
    pods(watched).map(({ metadata }) => metadata.uid),
    [kept!.metadata.uid],
  )
})

test('reports a gate whose removal fails', async () => {
  const watched = await watchedSet(set)
  kill(watched, pods(watched)[0]!)
  await watched.simulation.reconcileOne('clique', web)
  await watched.simulation.reconcileOne('gang', 'w/0')
  watched.reject(({ verb, resource }) => verb === 'patch' && resource === 'pods')
  assert.ok(await watched.simulation.reconcileOne('clique', web))
  const [error] = errorsOf(cliqueOf(watched))
  assert.match(error!, /^ERR_REMOVE_POD_SCHEDULING_GATE failed to sync Pod: .*Error removing the gate of pod/)
})

test('reports a scheduler that is not enabled, and still does all other work', async () => {
  const watched = await watchedSet(set)
  const { simulation } = watched
  const podSpec = { ...cliqueOf(watched).spec.podSpec, schedulerName: 'unknown' }
  simulation.api.modify(resources.podCliques, web, { spec: { podSpec, replicas: 3 } })
  const failed = pods(watched)[0]!
  simulation.api.modify(resources.pods, failed.metadata.name, { status: { phase: 'Failed' } })
  assert.ok(await simulation.reconcileOne('clique', web))
  assert.deepEqual(errorsOf(cliqueOf(watched)), [
    'ERR_BUILD_POD_RESOURCE failed to sync Pod: [Operation: Sync, Code: ERR_BUILD_POD_RESOURCE] message: schedulerName "unknown" is not an enabled scheduler backend',
  ])
  assert.ok(
    !pods(watched).some(({ metadata }) => metadata.uid === failed.metadata.uid),
    'the failed pod is deleted',
  )
})

test('reports a token that cannot be created, and still deletes failed pods', async () => {
  const watched = await watchedSet(set)
  const { simulation } = watched
  const [secret] = simulation.api.list(resources.secrets)
  simulation.api.remove(resources.secrets, secret as Stored<Secret>)
  await simulation.clock.advance(tokenReadValidMs)
  simulation.api.modify(resources.podCliques, web, { spec: { startsAfter: ['w-0-first'], replicas: 3 } })
  const failed = pods(watched)[0]!
  simulation.api.modify(resources.pods, failed.metadata.name, { status: { phase: 'Failed' } })
  watched.reject(({ resource }) => resource === 'secrets')
  assert.ok(await simulation.reconcileOne('clique', web))
  const [error] = errorsOf(cliqueOf(watched))
  assert.match(error!, /Error creating Secret serving\/\S+, cause: Forbidden: not today$/)
  assert.ok(
    !pods(watched).some(({ metadata }) => metadata.uid === failed.metadata.uid),
    'the failed pod is deleted',
  )
})

test('reports a clique that its set does not define, and neither creates nor deletes its pods', async () => {
  const watched = await watchedSet(set)
  watched.simulation.api.modify(resources.podCliques, web, {
    metadata: { labels: { 'grove.io/podcliqueset-replica-index': null } },
    spec: { replicas: 5 },
  })
  assert.ok(await watched.simulation.reconcileOne('clique', web))
  assert.deepEqual(errorsOf(cliqueOf(watched)), [
    `ERR_GET_PODCLIQUE_TEMPLATE failed to sync Pod: [Operation: Sync, Code: ERR_GET_PODCLIQUE_TEMPLATE] message: PodCliqueSet serving/w defines no clique for PodClique ${web}`,
  ])
  assert.equal(pods(watched).length, 2)
})

test('leaves a terminating clique alone, and removes a finalizer of another operator', async () => {
  const watched = await watchedSet(set)
  watched.simulation.api.modify(resources.podCliques, web, {
    metadata: {
      deletionTimestamp: '2030-01-01T00:00:00Z',
      finalizers: ['grove.io/podclique.grove.io', 'example.com/mine'],
    },
    spec: { replicas: 5 },
  })
  watched.writes.length = 0
  assert.equal(await watched.simulation.reconcileOne('clique', web), undefined)
  assert.deepEqual(watched.writes, ['patch podcliques'])
  assert.deepEqual(cliqueOf(watched).metadata.finalizers, ['example.com/mine'])
  assert.equal(await watched.simulation.reconcileOne('clique', web), undefined)
  assert.deepEqual(watched.writes, ['patch podcliques'])
})

test('removes the gates of a scaled gang when the base gang is scheduled, without polling', async () => {
  const watched = await watchedSet(
    sampleSet({ name: 'w', cliques: [clique('work')], groups: [group('g', ['work'], 2, 1)] }),
  )
  const { simulation } = watched
  const gated = () => pods(watched).filter(pod => pod.spec?.schedulingGates?.length).length
  for (const pod of pods(watched)) kill(watched, pod)
  while (simulation.nodes.progress());
  const convergeBehind = async () => {
    for (const kind of ['clique', 'gang', 'clique'] as const)
      for (const name of kind === 'gang' ? ['w/0', 'w/0/w-0-g/1'] : ['w-0-g-0-work', 'w-0-g-1-work'])
        await simulation.reconcileOne(kind, name)
    await simulation.clock.advance(1_000)
    for (const name of ['w-0-g-0-work', 'w-0-g-1-work']) await simulation.reconcileOne('clique', name)
  }
  await convergeBehind()
  assert.equal(gated(), 1, 'the base gang is not scheduled')
  simulation.nodes.progress()
  await convergeBehind()
  assert.equal(gated(), 0)
})

test('does not update the status of a clique whose replica is being deleted, unless it is wanted again', async () => {
  const watched = await watchedSet(set)
  const { api } = watched.simulation
  const before = cliqueOf(watched).metadata.resourceVersion
  api.modify(resources.podCliqueSets, 'w', { spec: { replicas: 0 } })
  for (const pod of pods(watched)) {
    kill(watched, pod)
    await watched.simulation.clock.advance(1_000)
    await watched.simulation.reconcileOne('clique', web)
  }
  assert.equal(cliqueOf(watched).metadata.resourceVersion, before)
  api.modify(resources.podCliqueSets, 'w', { spec: { replicas: 1 } })
  await watched.simulation.reconcileOne('clique', web)
  await watched.simulation.clock.advance(1_000)
  await watched.simulation.reconcileOne('clique', web)
  assert.equal(pods(watched).length, 2)
  assert.equal(cliqueOf(watched).status?.scheduleGatedReplicas, 2)
})
