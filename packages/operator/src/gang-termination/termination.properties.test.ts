// SPDX-License-Identifier: Apache-2.0

// Random sets whose pods and nodes fail and come back over hours: what is terminated had it coming, and only then.
// RUNS=2000 for more; SEED repeats a failure.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defaultConfiguration } from '@grove/api'
import { editSet } from '../testing/simulation/edits.ts'
import { Random } from '../testing/simulation/random.ts'
import { randomSet } from '../testing/simulation/random-set.ts'
import { Simulation } from '../testing/simulation/simulation.ts'
import { TerminationObserver } from '../testing/simulation/terminations.ts'
import { isWell, settle, summary } from '../testing/simulation/wellness.ts'

const runs = Number(process.env.RUNS ?? 12)
const seed = Number(process.env.SEED ?? Date.now() % 1_000_000)
const delayMinutes = 60
const steps = 80

async function live(at: number): Promise<number> {
  const random = new Random(at)
  const onTotalLoss = random.chance(50) ? 'Recreate' : 'Wait'
  const observer = new TerminationObserver(delayMinutes * 60_000, onTotalLoss === 'Recreate')
  const simulation = new Simulation({
    seed: at,
    set: randomSet(random, `${delayMinutes}m`),
    nodes: 4,
    places: 8 + random.below(12),
    observer,
    events: observer.events,
    configuration: { ...defaultConfiguration(), gangTermination: { onTotalLoss } },
  })
  simulation.faults = random.pick([0, 0, 3])!
  await settle(simulation, 60)
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
    else if (dice < 70) await unattended(simulation, random, observer)
    else {
      // Everybody sees what happened before time goes on.
      const { faults } = simulation
      for (let round = 0; round < 4; round++) {
        await simulation.reconcileAll()
        await simulation.clock.advance(600)
        simulation.faults = 0
      }
      simulation.faults = faults
      await simulation.clock.advance(random.below(25 * 60_000))
      await simulation.reconcileAll()
    }
  }
  simulation.faults = 0
  simulation.nodes.returnAll()
  assert.ok(await settle(simulation, 400), `it never became well: ${JSON.stringify(summary(simulation))}`)
  assert.ok(isWell(simulation))
  return observer.terminated
}

/** Pods recover while no operator looks, and hours may pass until one does. */
async function unattended(
  simulation: Simulation,
  random: Random,
  observer: TerminationObserver,
): Promise<void> {
  for (let step = random.below(6); step > 0; step--) simulation.nodes.progress()
  observer.looks(simulation)
  await simulation.clock.advance(random.below(120 * 60_000))
  if (random.chance(50)) simulation.restart()
  await simulation.reconcile(random.pick(['set', 'group', 'clique'] as const)!)
}

test(`${runs} lives of sets with failures (SEED=${seed})`, async () => {
  let terminated = 0
  for (let run = 0; run < runs; run++)
    try {
      terminated += await live(seed + run)
    } catch (error) {
      throw new Error(`SEED=${seed + run} RUNS=1 repeats this: ${(error as Error).message}`, { cause: error })
    }
  if (runs > 10) assert.ok(terminated > 0, 'nothing was ever terminated')
})
