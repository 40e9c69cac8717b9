// SPDX-License-Identifier: Apache-2.0

// Measures what metrics cost: one read of all metrics, and one change of a pod, for 5,000 and 50,000 pods: `npm run
// bench -- metrics`.
import { FakeClock, Registry } from '@grove/kube'
import { observeStartups } from '../src/metrics/startup-times.ts'
import { observeStates } from '../src/metrics/state-gauges.ts'
import { observedCaches, observedPod, observedSet } from '../src/metrics/testing/observed-caches.ts'

const rounds = 20
const podsPerSet = 100

for (const count of [5_000, 50_000]) {
  const registry = new Registry()
  const clock = new FakeClock(Date.UTC(2030, 0, 1))
  const { sets, pods, caches } = observedCaches()
  observeStates(registry, caches, clock)
  observeStartups(registry, caches, clock)
  for (let set = 0; set < count / podsPerSet; set++)
    sets.put(observedSet({ name: `set-${set}`, pods: podsPerSet, createdAt: '2030-01-01T00:00:01Z' }))
  const began = performance.now()
  for (const progress of ['gated', 'pending', 'starting', 'ready'] as const)
    for (let pod = 0; pod < count; pod++)
      pods.put(observedPod(`pod-${pod}`, progress, `set-${Math.floor(pod / podsPerSet)}`))
  const changesMs = performance.now() - began
  const times: number[] = []
  for (let round = 0; round < rounds; round++) {
    const start = performance.now()
    await registry.metrics()
    times.push(performance.now() - start)
  }
  times.sort((a, b) => a - b)
  const median = times[Math.floor(rounds / 2)] ?? 0
  console.log(
    `${count} pods in ${count / podsPerSet} sets: read ${median.toFixed(1)} ms (worst ${times.at(-1)?.toFixed(1)} ms), ` +
      `change of a pod ${((changesMs * 1000) / (4 * count)).toFixed(1)} µs, its creation in the benchmark included`,
  )
}
