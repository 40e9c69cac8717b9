// SPDX-License-Identifier: Apache-2.0

// Tests a termination that takes time while the other controllers reconcile.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '@grove/api'
import type { KubeObject, Resource, Stored } from '@grove/kube'
import { resources } from '../caches/resources.ts'
import { clique, group, sampleSet } from '../testing/sample-set.ts'
import { converge } from '../testing/simulation/convergence.ts'
import { watchedSet } from '../testing/simulation/watched-set.ts'

const set = sampleSet({
  name: 'w',
  cliques: [clique('web', { replicas: 2 }), clique('work')],
  groups: [group('g', ['work'], 3, 2)],
  template: { terminationDelay: '1m' },
})

test('recreates no object before the last pod is deleted, and all objects afterwards', async () => {
  const { simulation } = await watchedSet(set)
  const { api } = simulation
  const podUids = () => new Set(api.list(resources.pods).map(({ metadata }) => metadata.uid))
  const before = podUids()
  const web = (api.list(resources.pods) as Stored<Pod>[]).find(({ metadata }) =>
    metadata.name.includes('web'),
  )
  const { client } = api.caches
  const remove = client.deleteCollection
  const returned: string[] = []
  let isTerminated = false
  Object.assign(client, {
    deleteCollection: async (resource: Resource<KubeObject>, options: object) => {
      const response = await remove.call(client, resource, options)
      if (resource.resource === 'podcliques')
        for (const [kind, name] of [
          ['group', 'w-0-g'],
          ['clique', 'w-0-g-0-work'],
        ] as const)
          await simulation.reconcileOne(kind, name)
      if (resource.resource === 'pods') {
        returned.push(...response.items.map(({ metadata }) => metadata.uid))
        isTerminated = true
      }
      return response
    },
  })
  api.collectsGarbage = false
  simulation.nodes.stopServing(web!)
  for (let round = 0; round < 60 && !isTerminated; round++) {
    await simulation.reconcileAll()
    await simulation.clock.advance(2_000)
  }
  assert.ok(isTerminated)
  assert.deepEqual(
    returned.filter(uid => !before.has(uid)),
    [],
    'none of the recreated objects',
  )
  assert.ok(await converge(simulation, 60))
  const after = podUids()
  assert.equal(after.size, before.size)
  for (const uid of before) assert.ok(!after.has(uid))
})
