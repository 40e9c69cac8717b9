// SPDX-License-Identifier: Apache-2.0

// Random lost pods, scaling, failed writes and operator restarts. Two active pods of a clique never have the same
// index. At the end every index from zero on exists once, even after two operators ran at the same time, which leader
// election prevents. RUNS=5000 runs more; SEED repeats a failure.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { label, type Pod } from '@grove/api'
import { resources } from '../caches/resources.ts'
import { indexOf, isActive, isReady } from '../state/pod-state.ts'
import { clique, sampleSet } from '../testing/sample-set.ts'
import { Random } from '../testing/simulation/random.ts'
import { type Observer, Simulation } from '../testing/simulation/simulation.ts'
import { longestReplacementDelayMs } from '../timings/timings.ts'

const runs = Number(process.env.RUNS ?? 30)
const seed = Number(process.env.SEED ?? 1)
const steps = 80
const cliques = ['web', 'web-1']

const activePods = ({ api }: Simulation, name: string) => {
  const owner = api.get(resources.podCliques, name)
  return (api.list(resources.pods) as Pod[]).filter(
    pod => isActive(pod) && pod.metadata.ownerReferences?.[0]?.uid === owner?.metadata.uid,
  )
}

/** Checks that all fields of a pod name the same index, and that no two pods have the same name. */
function checkIndexes(simulation: Simulation): void {
  for (const name of cliques.map(one => `w-0-${one}`)) {
    const indexes = activePods(simulation, name).map(pod => {
      const index = indexOf(pod)
      assert.equal(pod.spec?.hostname, `${name}-${index}`)
      assert.equal(pod.metadata.labels?.[label.podIndex], String(index))
      return index
    })
    assert.equal(new Set(indexes).size, indexes.length, `${name} has the indexes ${indexes.join()}`)
  }
}

const noObserver: Observer = {
  reconcileBegins: () => {},
  patches: () => {},
  deletes: () => {},
  inspects: () => {},
}

async function live(at: number, operators: 1 | 2): Promise<void> {
  const random = new Random(at)
  let isBusy = false
  const simulation = new Simulation({
    seed: at,
    set: sampleSet({
      name: 'w',
      cliques: cliques.map(name => clique(name, { replicas: 1 + random.below(5), minAvailable: 1 })),
    }),
    nodes: 3,
    places: 3 + random.below(6),
    observer: operators === 1 ? { ...noObserver, inspects: checkIndexes } : noObserver,
    between: async one => {
      if (random.chance(40)) one.nodes.progress()
      if (random.chance(5)) one.nodes.kill()
      if (operators === 1 || isBusy || random.chance(60)) return
      isBusy = true
      await one.reconcileOne('clique', `w-0-${random.pick(cliques)}`)
      isBusy = false
    },
  })
  simulation.faults = operators === 1 ? random.pick([0, 5, 20])! : 0
  for (let step = 0; step < steps; step++) await takeStep(simulation, random)
  simulation.faults = 0
  simulation.nodes.returnAll()
  await simulation.reconcileAll()
  const replicas = 1 + random.below(6)
  for (const name of cliques)
    simulation.api.modify(resources.podCliques, `w-0-${name}`, { spec: { replicas } })
  for (let round = 0; round < 30; round++) {
    await simulation.reconcileAll()
    while (simulation.nodes.progress());
    // The operator replaces failed pods with a delay.
    await simulation.clock.advance(longestReplacementDelayMs)
  }
  checkIndexes(simulation)
  for (const name of cliques) {
    const pods = activePods(simulation, `w-0-${name}`)
    assert.equal(pods.length, replicas)
    assert.ok(pods.every(isReady))
  }
}

async function takeStep(simulation: Simulation, random: Random): Promise<void> {
  const dice = random.below(100)
  if (dice < 45) await simulation.reconcile(random.pick(['set', 'clique', 'clique', 'gang'] as const)!)
  else if (dice < 65) simulation.nodes.progress()
  else if (dice < 75) simulation.nodes.kill()
  else if (dice < 80) simulation.nodes.fail()
  else if (dice < 83) simulation.nodes.lose()
  else if (dice < 87) simulation.nodes.return()
  else if (dice < 89) simulation.restart()
  else if (dice < 92) await simulation.clock.advance(1 + random.below(3_000))
  else
    simulation.api.modify(resources.podCliques, `w-0-${random.pick(cliques)}`, {
      spec: { replicas: random.below(7) },
    })
}

for (const operators of [1, 2] as const)
  test(`${runs} simulation runs of cliques with ${operators} at work (SEED=${seed})`, async () => {
    for (let run = 0; run < runs; run++)
      await live(seed + run, operators).catch((error: Error) => {
        throw new Error(`SEED=${seed + run} RUNS=1 repeats this: ${error.message}`, { cause: error })
      })
  })
