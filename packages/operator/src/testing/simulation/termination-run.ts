// SPDX-License-Identifier: Apache-2.0

// Simulates a set whose pods and nodes fail and recover over hours. The operator terminates a replica exactly when the
// rules of gang termination require it.
import assert from 'node:assert/strict'
import { defaultConfiguration } from '@grove/api'
import { converge, isConverged, summary } from './convergence.ts'
import { editSet } from './edits.ts'
import { Random } from './random.ts'
import { randomSet } from './random-set.ts'
import { type RunOptions, repeatable } from './repeatable.ts'
import { Simulation } from './simulation.ts'
import { TerminationObserver } from './terminations.ts'

const delayMinutes = 60
const steps = 80

/** Returns the number of terminations. */
export function terminationRun(seed: number, options: RunOptions = {}): Promise<number> {
  return repeatable('terminations', seed, options, () => live(seed, options))
}

async function live(seed: number, options: RunOptions): Promise<number> {
  const random = new Random(seed)
  const onTotalLoss = random.chance(50) ? 'Recreate' : 'Wait'
  const observer = new TerminationObserver(delayMinutes * 60_000, onTotalLoss === 'Recreate')
  const set = randomSet(random, `${delayMinutes}m`)
  const surging = { maxSurge: 1, maxUnavailable: random.below(2) }
  const simulation = new Simulation({
    ...options,
    seed,
    set: random.chance(30) ? { ...set, spec: { ...set.spec, updateStrategy: surging } } : set,
    nodes: 4,
    places: 8 + random.below(12),
    observer,
    events: observer.events,
    configuration: { ...defaultConfiguration(), gangTermination: { onTotalLoss } },
  })
  simulation.faults = random.pick([0, 0, 3])!
  await converge(simulation, 60)
  for (let step = 0; step < steps; step++) {
    const dice = random.below(100)
    if (dice < 20) simulation.nodes.progress()
    else if (dice < 40) simulation.nodes.fail()
    else if (dice < 44) simulation.nodes.kill()
    else if (dice < 50) simulation.nodes.lose()
    else if (dice < 56) simulation.nodes.return()
    else if (dice < 60) simulation.restart()
    else if (dice < 63) editSet(simulation, 'template')
    else if (dice < 65) editSet(simulation, 'scale set')
    else if (dice < 70) editSet(simulation, 'scale clique')
    else if (dice < 72) editSet(simulation, 'pause')
    else if (dice < 75) await unattended(simulation, random, observer)
    else await attended(simulation, random)
  }
  simulation.faults = 0
  simulation.nodes.returnAll()
  editSet(simulation, 'resume')
  assert.ok(
    await converge(simulation, 400),
    `the set never converged: ${JSON.stringify(summary(simulation))}`,
  )
  assert.ok(isConverged(simulation))
  return observer.terminated
}

/** All reconcilers see the change before the clock advances. */
async function attended(simulation: Simulation, random: Random): Promise<void> {
  await reconcileRepeatedly(simulation)
  await simulation.clock.advance(random.below(25 * 60_000))
  await simulation.reconcileAll()
}

/** Lets pods recover while no operator runs. It may start hours later, and reconcile the objects in any order. */
async function unattended(
  simulation: Simulation,
  random: Random,
  observer: TerminationObserver,
): Promise<void> {
  for (let step = random.below(6); step > 0; step--) simulation.nodes.progress()
  observer.inspects(simulation.known)
  await simulation.clock.advance(random.below(120 * 60_000))
  if (random.chance(50)) simulation.restart()
  await simulation.reconcile(random.pick(['set', 'group', 'clique'] as const)!)
  await reconcileRepeatedly(simulation)
}

/** Reconciles until a change of a pod has reached the set. Only the first round may have failures. */
async function reconcileRepeatedly(simulation: Simulation): Promise<void> {
  const { faults } = simulation
  for (let round = 0; round < 4; round++) {
    await simulation.reconcileAll()
    await simulation.clock.advance(600)
    simulation.faults = 0
  }
  simulation.faults = faults
}
