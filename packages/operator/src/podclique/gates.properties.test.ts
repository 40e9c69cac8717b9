// SPDX-License-Identifier: Apache-2.0

// Random sets with lost pods, scaling and operator restarts. The operator removes a gate only if the gang is complete
// and lists the pod. For a scaled gang, the base gang must be scheduled as well. At the end no gate is left. RUNS=5000
// runs more; SEED repeats a failure.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { label, type Pod, type PodGang } from '@grove/api'
import { resources } from '../caches/resources.ts'
import { isInitialized } from '../state/child-state.ts'
import { hasOurGate } from '../state/pod-state.ts'
import type { Write } from '../testing/simulation/api.ts'
import { converge, summary } from '../testing/simulation/convergence.ts'
import { editSet } from '../testing/simulation/edits.ts'
import { Random } from '../testing/simulation/random.ts'
import { randomSet } from '../testing/simulation/random-set.ts'
import { Simulation } from '../testing/simulation/simulation.ts'

const runs = Number(process.env.RUNS ?? 30)
const seed = Number(process.env.SEED ?? 1)
const steps = 100
const patience = 200

let removedGates = 0
let ofScaledGangs = 0

function checkGateRemoval({ api }: Simulation, { resource, patch, objects }: Write): void {
  const isGateRemoval = resource === 'pods' && JSON.stringify(patch ?? {}).includes('schedulingGates')
  const pod = objects[0] as Pod | undefined
  if (!isGateRemoval || !pod) return
  const { name, labels = {} } = pod.metadata
  const gangNamed = (called = '') => api.get(resources.podGangs, called) as PodGang | undefined
  const gang = gangNamed(labels[label.podGang])
  assert.ok(gang && isInitialized(gang), `the gang of ${name} is complete`)
  const group = gang.spec.podgroups.find(one => one.name === labels[label.podClique])
  assert.ok(
    group?.podReferences.some(reference => reference.name === name),
    `the gang of ${name} lists it`,
  )
  removedGates++
  if (!labels[label.basePodGang]) return
  ofScaledGangs++
  for (const { name: clique, minReplicas } of gangNamed(labels[label.basePodGang])!.spec.podgroups) {
    const scheduled = api.get(resources.podCliques, clique)?.status?.scheduledReplicas ?? 0
    assert.ok(
      scheduled >= minReplicas,
      `${name} loses its gate while ${clique} has ${scheduled} of ${minReplicas} scheduled pods`,
    )
  }
}

async function simulate(at: number): Promise<void> {
  const random = new Random(at)
  const simulation = new Simulation({
    seed: at,
    set: randomSet(random, '1000h'),
    nodes: 4,
    places: 4 + random.below(12),
    observer: {
      reconcileBegins: () => {},
      patches: checkGateRemoval,
      deletes: () => {},
      inspects: () => {},
    },
    between: one => {
      if (random.chance(50)) one.nodes.progress()
      if (random.chance(3)) one.nodes.kill()
    },
  })
  simulation.faults = random.pick([0, 0, 10])!
  for (let step = 0; step < steps; step++) {
    const dice = random.below(100)
    if (dice < 60)
      await simulation.reconcile(random.pick(['set', 'group', 'clique', 'clique', 'gang'] as const)!)
    else if (dice < 80) simulation.nodes.progress()
    else if (dice < 84) await simulation.clock.advance(random.below(3_000))
    else if (dice < 88) simulation.nodes.kill()
    else if (dice < 90) simulation.nodes.lose()
    else if (dice < 92) simulation.nodes.return()
    else if (dice < 93) simulation.restart()
    else
      editSet(
        simulation,
        random.pick(['scale set', 'scale group', 'scale clique', 'delete clique'] as const)!,
      )
  }
  simulation.faults = 0
  simulation.nodes.returnAll()
  assert.ok(
    await converge(simulation, patience),
    `the set did not converge: ${JSON.stringify(summary(simulation))}`,
  )
  assert.ok(!(simulation.api.list(resources.pods) as Pod[]).some(hasOurGate))
}

test(`${runs} simulation runs of sets whose pods wait for each other (SEED=${seed})`, async () => {
  for (let run = 0; run < runs; run++)
    await simulate(seed + run).catch((error: Error) => {
      throw new Error(`SEED=${seed + run} RUNS=1 repeats this: ${error.message}`, { cause: error })
    })
  assert.ok(
    runs < 30 || (removedGates > 100 && ofScaledGangs > 10),
    `${removedGates} gates were removed, ${ofScaledGangs} of them of scaled gangs`,
  )
})
