// SPDX-License-Identifier: Apache-2.0

// Simulates updates with surge replicas without failures, on nodes with room for exactly replicas + maxSurge replicas.
// Never more than maxUnavailable replicas are missing, and every update ends.
import assert from 'node:assert/strict'
import { label, type Pod, type PodClique } from '@grove/api'
import { resources } from '../../caches/resources.ts'
import { range, replicaCount, scalingGroups, standaloneCliques } from '../../layout/layout.ts'
import type { StoredSet } from '../../layout/stored.ts'
import { isActive, isReady } from '../../state/pod-state.ts'
import { converge, summary } from './convergence.ts'
import { DisruptionObserver } from './disruptions.ts'
import { type Edit, editSet } from './edits.ts'
import { Random } from './random.ts'
import { randomSet } from './random-set.ts'
import { type RunOptions, repeatable } from './repeatable.ts'
import { Simulation } from './simulation.ts'

const steps = 150
const patience = 400
const edits: readonly Edit[] = ['template', 'template', 'take back', 'reorder', 'pause']

export function surgeRun(seed: number, options: RunOptions = {}): Promise<void> {
  return repeatable('surges', seed, options, log => live(seed, options, log))
}

async function live(seed: number, options: RunOptions, log: string[]): Promise<void> {
  const random = new Random(seed)
  const maxSurge = 1 + random.below(3)
  const maxUnavailable = random.below(3)
  const given = randomSet(random, '1000h')
  const set: StoredSet = {
    ...given,
    spec: { ...given.spec, updateStrategy: { maxSurge, maxUnavailable } },
  }
  const replicas = set.spec.replicas ?? 0
  const simulation = new Simulation({
    ...options,
    seed,
    set,
    nodes: 1,
    places: (replicas + maxSurge) * podsPerReplica(set),
    observer: new DisruptionObserver(),
    between: one => void (random.chance(50) && one.nodes.progress()),
  })
  assert.ok(await converge(simulation, 60), 'the set converges')
  const act = (edit: Edit) => log.push(`${edit}: ${editSet(simulation, edit)}`)
  act('new template')
  for (let step = 0; step < steps; step++) {
    const dice = random.below(100)
    if (dice < 50)
      await simulation.reconcile(random.pick(['set', 'group', 'clique', 'clique', 'gang'] as const)!)
    else if (dice < 85) simulation.nodes.progress()
    else if (dice < 92) await simulation.clock.advance(random.below(5_000))
    else if (dice < 97) simulation.restart()
    else act(random.pick(edits)!)
    const serving = range(0, replicaCount(simulation.set)).filter(at => isServing(simulation, at)).length
    assert.ok(serving >= replicas - maxUnavailable, `${serving} of ${replicas} replicas serve`)
  }
  editSet(simulation, 'resume')
  assert.ok(
    await converge(simulation, patience),
    `the set never converged: ${JSON.stringify(summary(simulation))}`,
  )
}

function podsPerReplica({ spec: { template } }: StoredSet): number {
  const [group] = template.podCliqueScalingGroups ?? []
  return template.cliques
    .map(({ name, spec }) => spec.replicas * (group?.cliqueNames.includes(name) ? (group.replicas ?? 1) : 1))
    .reduce((sum, pods) => sum + pods, 0)
}

/** Evaluates the pods, not the statuses. */
function isServing({ api, set, cliques }: Simulation, replica: number): boolean {
  const isComplete = (clique: PodClique | undefined) =>
    clique !== undefined &&
    (api.controlledBy(resources.pods, clique.metadata.uid!) as Pod[]).filter(
      pod => isActive(pod) && isReady(pod),
    ).length >= (clique.spec.minAvailable ?? clique.spec.replicas)
  return (
    standaloneCliques(set, replica).every(({ name }) =>
      isComplete(cliques.find(({ metadata }) => metadata.name === name)),
    ) &&
    scalingGroups(set, replica).every(({ name, config }) => {
      const members = cliques.filter(({ metadata }) => metadata.labels?.[label.scalingGroup] === name)
      const byReplica = Map.groupBy(
        members,
        ({ metadata }) => metadata.labels?.[label.scalingGroupReplicaIndex],
      )
      const complete = [...byReplica.values()].filter(
        list => list.length === config.cliqueNames.length && list.every(isComplete),
      )
      return complete.length >= (config.minAvailable ?? 1)
    })
  )
}
