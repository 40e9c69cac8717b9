// SPDX-License-Identifier: Apache-2.0

// Objects of other owners that carry the labels of a set: users copy labels, as `kubectl expose` does.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { label } from '@grove/api'
import type { KubeObject, Resource, Stored } from '@grove/kube'
import { resources } from '../caches/resources.ts'
import { clique, group, sampleSet } from '../testing/sample-set.ts'
import { converge } from '../testing/simulation/convergence.ts'
import { RecordedSimulation } from '../testing/simulation/recorded.ts'
import { setName } from '../testing/simulation/simulation.ts'

const untyped = (resource: unknown) => resource as Resource<KubeObject>
const pods = untyped(resources.pods)
const otherOwner = {
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  name: 'theirs',
  uid: 'theirs',
  controller: true,
}

/** Kinds that the operator deletes by label, and kinds that users tend to copy. */
const kinds: readonly [Resource<KubeObject>, original: string][] = [
  [untyped(resources.podCliques), 'w-1-web'],
  [untyped(resources.podCliques), 'w-0-g-1-work'],
  [untyped(resources.podCliqueScalingGroups), 'w-1-g'],
  [untyped(resources.podGangs), 'w-1'],
  [untyped(resources.services), 'w-1'],
  [untyped(resources.autoscalers), 'w-1-web'],
]

interface Copy {
  readonly resource: Resource<KubeObject>
  readonly object: Stored<KubeObject>
}

/** A set of two replicas. Each of its objects has a copy without a controller and a copy of another owner. */
async function withCopies(): Promise<{ simulation: RecordedSimulation; copies: Copy[] }> {
  const web = clique('web', { replicas: 2 })
  const simulation = new RecordedSimulation(
    sampleSet({
      name: setName,
      replicas: 2,
      cliques: [
        { ...web, spec: { ...web.spec, autoScalingConfig: { minReplicas: 2, maxReplicas: 4 } } },
        clique('work'),
      ],
      groups: [group('g', ['work'], 2, 1)],
    }),
  )
  assert.ok(await converge(simulation, 60))
  const { api } = simulation
  const originals = [
    ...kinds.map(([resource, name]) => ({ resource, original: api.get(resource, name)! })),
    ...api.list(pods).map(original => ({ resource: pods, original })),
  ]
  const copies = originals.flatMap(({ resource, original }, at) =>
    [[], [otherOwner]].map((ownerReferences, kind) => {
      const { namespace, labels } = original.metadata
      const metadata = { namespace, labels, ownerReferences, name: `copy-${at}-${kind}` }
      return { resource, object: api.put(resource, { ...original, metadata }) }
    }),
  )
  // `kubectl expose pod` creates a Service with the labels and the name of the pod.
  for (const { metadata } of api.list(pods).filter(pod => !pod.metadata.name.startsWith('copy'))) {
    const { namespace, labels, name } = metadata
    const resource = untyped(resources.services)
    copies.push({ resource, object: api.put(resource, { metadata: { namespace, labels, name } }) })
  }
  api.collectsGarbage = false
  return { simulation, copies }
}

function assertUntouched({ api }: RecordedSimulation, copies: readonly Copy[]): void {
  for (const { resource, object } of copies) {
    const { name } = object.metadata
    assert.deepEqual(api.get(resource, name), object, `${resource.kind} ${name}`)
  }
}

const ownPods = ({ api }: RecordedSimulation, of: (labels: Readonly<Record<string, string>>) => boolean) =>
  api
    .list(pods)
    .filter(({ metadata }) => !metadata.name.startsWith('copy') && of(metadata.labels ?? {}))
    .filter(({ metadata }) => !metadata.deletionTimestamp)

describe('copies of the labels of a set', () => {
  test('survive the scale-in of the set', async () => {
    const { simulation, copies } = await withCopies()
    simulation.api.modify(resources.podCliqueSets, setName, { spec: { replicas: 1 } })
    for (let round = 0; round < 3; round++) await simulation.reconcileAll()
    assertUntouched(simulation, copies)
    assert.deepEqual(
      ownPods(simulation, labels => labels[label.setReplicaIndex] === '1'),
      [],
    )
  })

  test('survive the scale-in of a scaling group', async () => {
    const { simulation, copies } = await withCopies()
    simulation.api.modify(resources.podCliqueScalingGroups, 'w-0-g', { spec: { replicas: 1 } })
    for (let round = 0; round < 3; round++) await simulation.reconcileAll()
    assertUntouched(simulation, copies)
    assert.deepEqual(
      ownPods(
        simulation,
        labels => labels[label.scalingGroup] === 'w-0-g' && labels[label.scalingGroupReplicaIndex] === '1',
      ),
      [],
    )
  })

  test('survive the deletion of the set', async () => {
    const { simulation, copies } = await withCopies()
    const metadata = { deletionTimestamp: new Date(simulation.clock.now()).toISOString() }
    simulation.api.modify(resources.podCliqueSets, setName, { metadata })
    for (let round = 0; round < 3; round++) await simulation.reconcileAll()
    assertUntouched(simulation, copies)
    assert.deepEqual(
      ownPods(simulation, () => true),
      [],
    )
    assert.deepEqual(simulation.set.metadata.finalizers ?? [], [])
  })
})
