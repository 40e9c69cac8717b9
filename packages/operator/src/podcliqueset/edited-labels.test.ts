// SPDX-License-Identifier: Apache-2.0

// Tests that edited labels of children are repaired, and that no object is deleted because of them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { label } from '@grove/api'
import type { KubeObject, Resource } from '@grove/kube'
import { resources } from '../caches/resources.ts'
import { clique, group, sampleSet } from '../testing/sample-set.ts'
import { converge } from '../testing/simulation/convergence.ts'
import { RecordedSimulation } from '../testing/simulation/recorded.ts'

const untyped = (resource: unknown) => resource as Resource<KubeObject>
const groups = untyped(resources.podCliqueScalingGroups)
const cliques = untyped(resources.podCliques)
const pods = untyped(resources.pods)

async function convergedSet(): Promise<RecordedSimulation> {
  const simulation = new RecordedSimulation(
    sampleSet({
      name: 'w',
      replicas: 2,
      cliques: [clique('web', { replicas: 2 }), clique('work')],
      groups: [group('g', ['work'], 3, 1)],
    }),
  )
  assert.ok(await converge(simulation, 60))
  return simulation
}

const namesOf = ({ api }: RecordedSimulation, isOf: (name: string) => boolean) =>
  [groups, cliques, pods]
    .flatMap(kind => api.list(kind))
    .filter(({ metadata }) => isOf(metadata.name) && !metadata.deletionTimestamp)
    .map(({ metadata }) => `${metadata.name} ${metadata.uid}`)
    .sort()

const edit = ({ api }: RecordedSimulation, kind: Resource<KubeObject>, name: string, labels: object) =>
  api.modify(kind, name, { metadata: { labels } })

for (const [kind, name] of [
  [cliques, 'w-0-web'],
  [cliques, 'w-0-g-0-work'],
  [cliques, 'w-0-g-2-work'],
  [groups, 'w-0-g'],
] as const)
  test(`an edited label of ${name} is repaired, and nothing is deleted`, async () => {
    const simulation = await convergedSet()
    const { api } = simulation
    const before = namesOf(simulation, () => true)
    const labels = api.get(kind, name)!.metadata.labels!
    for (const key of Object.keys(labels)) {
      // An update replaces the members of a group, so the hash of a member is not repaired.
      if (key === label.podTemplateHash) continue
      for (const value of ['7', '1', null]) {
        edit(simulation, kind, name, { [key]: value })
        for (let round = 0; round < 2; round++) await simulation.reconcileAll()
        assert.deepEqual(
          namesOf(simulation, () => true),
          before,
          `${key}=${value}`,
        )
        assert.deepEqual(api.get(kind, name)!.metadata.labels, labels, `${key}=${value}`)
      }
    }
  })

test('children whose labels name a removed replica stay', async () => {
  const simulation = await convergedSet()
  const { api } = simulation
  const ofFirst = (name: string) => name.startsWith('w-0')
  const before = namesOf(simulation, ofFirst)
  edit(simulation, cliques, 'w-0-web', { [label.setReplicaIndex]: '1' })
  edit(simulation, groups, 'w-0-g', { [label.setReplicaIndex]: '1' })
  edit(simulation, cliques, 'w-0-g-0-work', { [label.setReplicaIndex]: '1' })
  api.modify(resources.podCliqueSets, 'w', { spec: { replicas: 1 } })
  await simulation.reconcileAll()
  assert.deepEqual(
    namesOf(simulation, () => true),
    before,
  )
})

test('a member whose label names a removed replica stays, and one of a removed replica is deleted in any case', async () => {
  const simulation = await convergedSet()
  const isKept = (name: string) => !name.startsWith('w-0-g-2')
  const before = namesOf(simulation, isKept)
  edit(simulation, cliques, 'w-0-g-0-work', { [label.scalingGroupReplicaIndex]: '2' })
  edit(simulation, cliques, 'w-0-g-2-work', { [label.scalingGroupReplicaIndex]: null })
  simulation.api.modify(groups, 'w-0-g', { spec: { replicas: 2 } })
  for (let round = 0; round < 2; round++) await simulation.reconcileAll()
  assert.deepEqual(
    namesOf(simulation, () => true),
    before,
  )
})

for (const name of ['w-0-web', 'w-0-g-2-work'])
  test(`pods that ${name} creates while its labels are edited have the right labels`, async () => {
    const simulation = await convergedSet()
    const { api } = simulation
    const podsIn = () =>
      api
        .list(pods)
        .filter(({ metadata }) => metadata.name.startsWith(`${name}-`) && !metadata.deletionTimestamp)
    const labels = podsIn().map(({ metadata }) => metadata.labels)
    for (const key of Object.keys(api.get(cliques, name)!.metadata.labels!)) {
      if (key === label.podTemplateHash) continue
      edit(simulation, cliques, name, { [key]: '7' })
      for (const pod of podsIn()) api.remove(pods, pod)
      for (let round = 0; round < 2; round++) await simulation.reconcileOne('clique', name)
      await simulation.reconcileAll()
      assert.deepEqual(
        podsIn().map(({ metadata }) => metadata.labels),
        labels,
        key,
      )
    }
  })
