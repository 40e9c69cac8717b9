// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { annotation, finalizer, label, managedLabels } from '@grove/api'
import { resources } from '../caches/resources.ts'
import { clique, sampleSet } from '../testing/sample-set.ts'
import { converge } from '../testing/simulation/convergence.ts'
import { RecordedSimulation } from '../testing/simulation/recorded.ts'
import { setName } from '../testing/simulation/simulation.ts'

/** A set without replicas, and the domain of a replica that it had before. */
async function withDomain(): Promise<RecordedSimulation> {
  const set = sampleSet({ name: setName, replicas: 0, cliques: [clique('web')] })
  const simulation = new RecordedSimulation(set)
  assert.ok(await converge(simulation, 60))
  const { apiVersion, kind, metadata } = simulation.set
  simulation.api.put(resources.computeDomains, {
    metadata: {
      namespace: metadata.namespace,
      name: 'w-0-fabric',
      labels: { [label.setReplicaIndex]: '0' },
      finalizers: [finalizer.computeDomain],
      ownerReferences: [{ apiVersion, kind, name: metadata.name, uid: metadata.uid, controller: true }],
    },
  } as never)
  return simulation
}

for (const [what, ownerReferences, isHeld] of [
  ['a user that carries the labels of the set', [], false],
  [
    'a clique that is already deleted',
    [{ apiVersion: 'grove.io/v1alpha1', kind: 'PodClique', name: 'w-0-web', uid: 'gone', controller: true }],
    true,
  ],
] as const)
  test(`a domain is ${isHeld ? '' : 'not '}held by a pod of ${what}`, async () => {
    const simulation = await withDomain()
    const { namespace } = simulation.set.metadata
    const labels = { ...managedLabels(setName), [label.setReplicaIndex]: '0' }
    simulation.api.put(resources.pods, {
      metadata: { namespace, name: 'p', labels, ownerReferences },
    } as never)
    const metadata = { annotations: { [annotation.reconcileTrigger]: 'now' } }
    simulation.api.modify(resources.podCliqueSets, setName, { metadata })
    await simulation.reconcileSet()
    assert.equal(simulation.api.get(resources.computeDomains, 'w-0-fabric') !== undefined, isHeld)
  })

test('keeps a finalizer that the driver adds while the operator removes its own', async () => {
  const simulation = await withDomain()
  const ofDriver = 'resource.nvidia.com/computeDomain'
  const finalizersNow = () => simulation.api.get(resources.computeDomains, 'w-0-fabric')?.metadata.finalizers
  let isAdded = false
  simulation.reject = ({ verb, resource }) => {
    if (verb !== 'patch' || resource !== 'computedomains' || isAdded) return undefined
    isAdded = true
    const finalizers = [...(finalizersNow() ?? []), ofDriver]
    simulation.api.modify(resources.computeDomains, 'w-0-fabric', { metadata: { finalizers } })
    return undefined
  }
  const deletionTimestamp = new Date(simulation.clock.now()).toISOString()
  simulation.api.modify(resources.podCliqueSets, setName, { metadata: { deletionTimestamp } })
  await simulation.reconcileSet()
  assert.ok(isAdded)
  assert.deepEqual(finalizersNow(), [finalizer.computeDomain, ofDriver], 'the first attempt is a conflict')
  const released: unknown[] = []
  simulation.reject = ({ verb, resource, patch }) =>
    void (verb === 'patch' && resource === 'computedomains' && released.push(patch))
  await simulation.reconcileSet()
  assert.deepEqual(
    released.map(patch => (patch as { metadata: { finalizers: string[] } }).metadata.finalizers),
    [[ofDriver]],
  )
})
