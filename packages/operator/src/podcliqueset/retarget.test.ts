// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '../caches/resources.ts'
import { isActive, isReady } from '../state/pod-state.ts'
import { clique, group, sampleSet } from '../testing/sample-set.ts'
import { converge } from '../testing/simulation/convergence.ts'
import { DisruptionObserver } from '../testing/simulation/disruptions.ts'
import { Simulation, setName } from '../testing/simulation/simulation.ts'

/** A clique and a group that are updated in parallel, each with three replicas above minAvailable. */
async function running(): Promise<Simulation> {
  const simulation = new Simulation({
    seed: 1,
    set: sampleSet({
      name: setName,
      cliques: [clique('web', { replicas: 4, minAvailable: 1 }), clique('work')],
      groups: [group('g', ['work'], 4, 1)],
    }),
    nodes: 2,
    places: 20,
    observer: new DisruptionObserver(),
  })
  assert.ok(await converge(simulation, 60))
  return simulation
}

function change(simulation: Simulation, version: number): void {
  const template = structuredClone(simulation.set.spec.template)
  for (const { spec } of template.cliques)
    spec.podSpec.containers[0]!.image = `registry.example/main:${version}`
  simulation.api.modify(resources.podCliqueSets, setName, { spec: { template } })
}

/** Reconciles all controllers repeatedly while no pod becomes ready. */
async function look(simulation: Simulation): Promise<number> {
  for (let round = 0; round < 8; round++) {
    await simulation.reconcileAll()
    await simulation.clock.advance(1_000)
  }
  return simulation.api.list(resources.pods).filter(pod => isActive(pod) && isReady(pod)).length
}

test('a change during an update disrupts no further replica before the first one is back', async () => {
  const simulation = await running()
  change(simulation, 2)
  assert.equal(await look(simulation), 6, 'one of four pods, and one of four replicas')
  change(simulation, 3)
  assert.equal(await look(simulation), 6)
  change(simulation, 1)
  assert.equal(await look(simulation), 6)
  assert.ok(await converge(simulation, 100))
})

test('a change that is reverted before the operator has recorded it has no effect', async () => {
  const simulation = await running()
  change(simulation, 2)
  simulation.api.modify(resources.podCliqueScalingGroups, `${setName}-0-g`, { spec: { replicas: 5 } })
  await simulation.reconcile('group')
  change(simulation, 1)
  assert.ok(await converge(simulation, 60))
  assert.equal(simulation.set.status?.updateProgress, undefined)
})

test('a recorded change does not stop the creation of missing objects', async () => {
  const simulation = await running()
  change(simulation, 2)
  simulation.api.modify(resources.podCliqueScalingGroups, `${setName}-0-g`, { spec: { replicas: 5 } })
  await simulation.reconcile('group')
  assert.ok(await converge(simulation, 100))
  assert.ok(simulation.cliques.some(({ metadata }) => metadata.name === `${setName}-0-g-4-work`))
})
