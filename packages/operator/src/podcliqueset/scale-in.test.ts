// SPDX-License-Identifier: Apache-2.0

// Replicas that are wanted again while they go.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '@grove/api'
import type { KubeObject, Resource } from '@grove/kube'
import { isTerminating } from '../podclique/pod-state.ts'
import { resources } from '../resources.ts'
import { clique, group, sampleSet } from '../testing/sample-set.ts'
import { failure } from '../testing/simulation/api.ts'
import { watchedSet } from '../testing/simulation/watched-set.ts'
import { settle } from '../testing/simulation/wellness.ts'

const set = sampleSet({
  name: 'w',
  cliques: [clique('web', { replicas: 2 }), clique('work')],
  groups: [group('g', ['work'], 3, 2)],
})

test('a replica that is wanted again while it goes is made anew when it is gone, and not before', async () => {
  const { simulation, asked } = await watchedSet(set)
  const { api } = simulation
  const uidsOf = (resource: Resource<KubeObject>) =>
    new Set(api.list(resource).map(({ metadata }) => metadata.uid))
  const before = [resources.pods, resources.podCliques].map(uidsOf)
  const { client } = api.world
  const remove = client.deleteCollection
  const tooEarly: string[] = []
  Object.assign(client, {
    deleteCollection: async (resource: Resource<KubeObject>, options: object) => {
      const answer = await remove.call(client, resource, options)
      api.modify(resources.podCliqueSets, 'w', { spec: { replicas: 1 } })
      asked.length = 0
      for (const name of ['w-0-web', 'w-0-g-0-work']) await simulation.passOver('clique', name)
      await simulation.passOver('group', 'w-0-g')
      for (const gang of ['w/0', 'w/0/w-0-g/2']) await simulation.passOver('gang', gang)
      tooEarly.push(...asked.filter(write => write.startsWith('create') || write.includes('podgangs')))
      return answer
    },
  })
  api.modify(resources.podCliqueSets, 'w', { spec: { replicas: 0 } })
  await simulation.passOver('set', 'w')
  assert.deepEqual(tooEarly, [])
  assert.ok(await settle(simulation, 60))
  const after = [resources.pods, resources.podCliques].map(uidsOf)
  assert.deepEqual(
    after.map(({ size }) => size),
    before.map(({ size }) => size),
  )
  for (const [at, uids] of before.entries()) for (const uid of uids) assert.ok(!after[at]!.has(uid))
})

test('a clique whose removal fails is looked at again: what happened to it meanwhile was not told', async () => {
  const { simulation } = await watchedSet(set)
  const { api } = simulation
  assert.equal(await simulation.lookAgainAfter('w-0-web'), undefined)
  let again: number | undefined
  Object.assign(api.world.client, {
    deleteCollection: async () => {
      again = await simulation.lookAgainAfter('w-0-web')
      throw failure('Forbidden', 'not today')
    },
  })
  api.modify(resources.podCliqueSets, 'w', { spec: { replicas: 0 } })
  assert.ok(await simulation.passOver('set', 'w'))
  assert.equal(again, 5_000)
})

test('a replica that could not be removed and is wanted again has its pods back', async () => {
  const { simulation, refuse } = await watchedSet(set)
  const { api } = simulation
  const count = () => (api.list(resources.pods) as Pod[]).filter(pod => !isTerminating(pod)).length
  const before = count()
  refuse(({ verb, resource }) => verb === 'delete' && resource === 'podcliques')
  api.modify(resources.podCliqueSets, 'w', { spec: { replicas: 0 } })
  assert.ok(await simulation.passOver('set', 'w'))
  assert.equal(count(), 0)
  refuse()
  api.modify(resources.podCliqueSets, 'w', { spec: { replicas: 1 } })
  assert.ok(await settle(simulation, 60))
  assert.equal(count(), before)
})
