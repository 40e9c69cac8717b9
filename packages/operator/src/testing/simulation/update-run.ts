// SPDX-License-Identifier: Apache-2.0

// Simulates a set that is edited all the time, with failures and interleavings. An update disrupts one unit at a time,
// and no unit that is up to date. In the end the pods run the last template.
import assert from 'node:assert/strict'
import { converge, summary } from './convergence.ts'
import { DisruptionObserver } from './disruptions.ts'
import { type Edit, editSet } from './edits.ts'
import { Random } from './random.ts'
import { randomSet } from './random-set.ts'
import { type RunOptions, repeatable } from './repeatable.ts'
import { Simulation } from './simulation.ts'

const steps = 120
/** A set that can converge must converge within this many rounds. */
const patience = 400

const edits: readonly Edit[] = [
  'template',
  'template',
  'take back',
  'take back',
  'reorder',
  'scale set',
  'scale clique',
  'scale group',
  'pause',
  'partition',
  'budget',
  'surge',
  'surge',
  'delete clique',
  'switch strategy',
]

export function updateRun(seed: number, options: RunOptions = {}): Promise<void> {
  return repeatable('updates', seed, options, log => live(seed, options, log))
}

async function live(seed: number, options: RunOptions, log: string[]): Promise<void> {
  const random = new Random(seed)
  let isEnding = false
  let hasConverged = false
  const act = (simulation: Simulation, edit: Edit) => log.push(`${edit}: ${editSet(simulation, edit)}`)
  const simulation = new Simulation({
    ...options,
    seed,
    set: randomSet(random, '1000h'),
    nodes: 4,
    places: 4 + random.below(12),
    observer: new DisruptionObserver(),
    between: one => {
      if (random.chance(70)) one.nodes.progress()
      if (random.chance(2) && !hasConverged) one.nodes.fail()
      if (!isEnding && random.chance(1)) act(one, 'template')
    },
  })
  simulation.faults = random.pick([0, 0, 2, 10])!
  if (random.chance(80)) await converge(simulation, 60)
  for (let step = 0; step < steps; step++) {
    const dice = random.below(100)
    if (dice < 55)
      await simulation.reconcile(random.pick(['set', 'group', 'clique', 'clique', 'gang'] as const)!)
    else if (dice < 80) simulation.nodes.progress()
    else if (dice < 84) await simulation.clock.advance(random.below(5_000))
    else if (dice < 87) simulation.nodes.fail()
    else if (dice < 89) simulation.nodes.kill()
    else if (dice < 90) simulation.nodes.lose()
    else if (dice < 92) simulation.nodes.return()
    else if (dice < 93) simulation.restart()
    else act(simulation, random.pick(edits)!)
    if (dice >= 80) log.push(`${step}: ${dice}`)
  }
  simulation.faults = 0
  // Keep the last edit: if it were reverted before a reconcile, pods that OnDelete left outdated would stay.
  isEnding = true
  simulation.nodes.returnAll()
  editSet(simulation, 'resume')
  // Pods that OnDelete left outdated stay until the next change.
  if (log.some(line => line.startsWith('switch strategy'))) editSet(simulation, 'new template')
  assert.ok(
    await converge(simulation, patience),
    `the set never converged: ${JSON.stringify(summary(simulation))}`,
  )
  // A pod that failed now would be one more change to converge from.
  hasConverged = true
  // Let the operator write debounced statuses. With late watches it learns only now of the last pods, and their
  // statuses follow one after the other: clique, group, gang, set.
  const rounds = options.isLate ? 8 : 3
  for (let round = 0; round < rounds; round++) {
    await simulation.clock.advance(1_000)
    simulation.api.arriveAll()
    await simulation.reconcileAll()
  }
  simulation.api.arriveAll()
  const before = simulation.api.writes
  await simulation.reconcileAll()
  assert.equal(simulation.api.writes, before, 'a set in sync is written again')
}
