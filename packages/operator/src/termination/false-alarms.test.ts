// SPDX-License-Identifier: Apache-2.0

// AllScheduledReplicasLost reports losses, not deletions by the operator or scaling by a user.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '@grove/api'
import type { Resource, Stored } from '@grove/kube'
import { resources } from '../caches/resources.ts'
import { isTerminating } from '../state/pod-state.ts'
import { clique, group, sampleSet } from '../testing/sample-set.ts'
import { converge } from '../testing/simulation/convergence.ts'
import { type WatchedSet, watchedSet } from '../testing/simulation/watched-set.ts'

/** A clique of one pod and a group of one replica, so that every replacement deletes the last one. */
const single = sampleSet({
  name: 'w',
  cliques: [clique('web'), clique('work')],
  groups: [group('g', ['work'])],
  template: { terminationDelay: '1m' },
})

const pods = ({ simulation }: WatchedSet) =>
  (simulation.api.list(resources.pods) as Stored<Pod>[]).filter(pod => !isTerminating(pod))
const podOf = (watched: WatchedSet, name: string) =>
  pods(watched).find(({ metadata }) => metadata.name.startsWith(name))!
const losses = ({ emitted }: WatchedSet) => emitted.filter(text => text.includes('AllScheduledReplicasLost'))

function changeImages({ simulation }: WatchedSet): void {
  const { template } = simulation.set.spec
  const cliques = structuredClone(template.cliques)
  for (const { spec } of cliques) spec.podSpec.containers[0]!.image = 'registry.example/main:2'
  simulation.api.modify(resources.podCliqueSets, 'w', { spec: { template: { ...template, cliques } } })
}

async function updated(watched: WatchedSet): Promise<WatchedSet> {
  changeImages(watched)
  assert.ok(await converge(watched.simulation, 100))
  return watched
}

test('an update of ready pods reports no loss', async () => {
  assert.deepEqual(losses(await updated(await watchedSet(single))), [])
})

test('an update that replaces unready pods reports no loss', async () => {
  const watched = await watchedSet(single)
  const { simulation } = watched
  const broken = ['w-0-web', 'w-0-g-0-work'].map(name => podOf(watched, name))
  for (const pod of broken) simulation.nodes.stopServing(pod, 1)
  const isThere = (pod: Stored<Pod>) =>
    pods(watched).some(({ metadata }) => metadata.uid === pod.metadata.uid)
  await simulation.reconcileAll()
  changeImages(watched)
  // No pod makes progress in between.
  for (let round = 0; round < 20 && broken.some(isThere); round++) {
    await simulation.reconcileAll()
    await simulation.clock.advance(1_000)
  }
  assert.ok(!broken.some(isThere))
  for (let round = 0; round < 3; round++) {
    await simulation.reconcileAll()
    await simulation.clock.advance(1_000)
  }
  assert.deepEqual(losses(watched), [])
  assert.ok(await converge(simulation, 100))
})

test('an update reports no loss even if the operator crashes after every deletion', async () => {
  const watched = await watchedSet(single)
  const { simulation } = watched
  const { before } = simulation.api.hooks
  simulation.api.hooks = {
    before,
    after: ({ verb }) => {
      if (verb !== 'delete') return
      simulation.restart()
      throw new Error('the operator died')
    },
  }
  changeImages(watched)
  for (let round = 0; round < 60; round++) {
    for (const [kind, name] of [
      ['set', 'w'],
      ['clique', 'w-0-web'],
      ['group', 'w-0-g'],
      ['clique', 'w-0-g-0-work'],
      ['gang', 'w/0'],
    ] as const)
      await simulation.reconcileOne(kind, name)
    while (simulation.nodes.progress());
    await simulation.clock.advance(1_000)
  }
  assert.notEqual(simulation.set.status?.updateProgress?.updateEndedAt, undefined, 'the update ended')
  assert.deepEqual(losses(watched), [])
})

test('a gang termination reports no loss, neither for the clique nor for the groups', async () => {
  const watched = await watchedSet(single)
  const { simulation } = watched
  simulation.nodes.stopServing(podOf(watched, 'w-0-web'))
  for (let round = 0; round < 60; round++) {
    await simulation.reconcileAll()
    await simulation.clock.advance(2_000)
  }
  assert.ok(watched.emitted.some(text => text.includes('PodCliqueSetReplicaDeleteSuccessful')))
  assert.deepEqual(losses(watched), [])
  assert.ok(await converge(simulation, 60))
})

test('scaling the set, a clique or a group to zero reports no loss', async () => {
  for (const [resource, name] of [
    [resources.podCliqueSets, 'w'],
    [resources.podCliques, 'w-0-web'],
    [resources.podCliqueScalingGroups, 'w-0-g'],
  ] as const) {
    const watched = await watchedSet(single)
    const scale = (replicas: number) =>
      watched.simulation.api.modify(resource as Resource, name, { spec: { replicas } })
    scale(0)
    for (let round = 0; round < 5; round++) {
      await watched.simulation.reconcileAll()
      while (watched.simulation.nodes.progress());
      await watched.simulation.clock.advance(1_000)
    }
    scale(1)
    assert.ok(await converge(watched.simulation, 60))
    assert.deepEqual(losses(watched), [], name)
  }
})

test('a scale-in that leaves only unscheduled group replicas reports no loss', async () => {
  const watched = await watchedSet(
    sampleSet({ name: 'w', cliques: [clique('work')], groups: [group('g', ['work'], 2)] }),
  )
  const { simulation } = watched
  simulation.nodes.cordon()
  simulation.api.remove(resources.pods, podOf(watched, 'w-0-g-0-work'))
  const propagate = async () => {
    for (let round = 0; round < 5; round++) {
      await simulation.reconcileAll()
      while (simulation.nodes.progress());
      await simulation.clock.advance(1_000)
    }
  }
  await propagate()
  watched.emitted.length = 0
  simulation.api.modify(resources.podCliqueScalingGroups, 'w-0-g', { spec: { replicas: 1 } })
  await propagate()
  assert.deepEqual(losses(watched), [])
})

test('reports a loss once for the clique and once for the group, also during an update', async () => {
  const several = sampleSet({
    name: 'w',
    cliques: [clique('web', { replicas: 3, minAvailable: 1 }), clique('work')],
    groups: [group('g', ['work'], 3)],
  })
  for (const isUpdated of [false, true]) {
    const watched = await watchedSet(several)
    const { simulation } = watched
    if (isUpdated) {
      changeImages(watched)
      const isHalfWay = () =>
        simulation.cliques.some(({ status }) => status?.updateProgress?.readyPodsSelectedToUpdate) &&
        simulation.groups.some(({ status }) => status?.updateProgress?.readyReplicaIndicesSelectedToUpdate)
      for (let round = 0; round < 50 && !isHalfWay(); round++) {
        await simulation.reconcileAll()
        await simulation.clock.advance(1_000)
      }
      assert.ok(isHalfWay())
    }
    simulation.nodes.loseAll()
    for (let round = 0; round < 5; round++) {
      await simulation.reconcileAll()
      while (simulation.nodes.progress());
      await simulation.clock.advance(1_000)
    }
    const emitted = losses(watched).map(text => text.split(' ')[0])
    for (const name of ['PodClique/w-0-web', 'PodCliqueScalingGroup/w-0-g'])
      assert.equal(emitted.filter(one => one === name).length, 1, `${name}, during an update: ${isUpdated}`)
  }
})
