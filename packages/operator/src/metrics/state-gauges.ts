// SPDX-License-Identifier: Apache-2.0

// Counts of sets, gangs and pods by state. They are computed from the caches when the metrics are read: one pass over
// the objects, no counter that could drift, and no work when an object changes.
import { conditionType } from '@grove/api'
import { type Clock, type Gauge, gauge, onCollect, type Registry } from '@grove/kube'
import type { Caches } from '../caches/caches.ts'
import { findCondition } from '../state/conditions.ts'
import { gangStates, operatorCatalogue, podStates, setStates, updateStates } from './catalogue.ts'
import { stateOfGang, stateOfPod, stateOfSet, stateOfUpdate } from './states.ts'

export type ObservedCaches = Pick<Caches, 'sets' | 'gangs' | 'pods'>

/** Returns a function that ends the updates of the gauges. */
export function observeStates(registry: Registry, caches: ObservedCaches, clock: Clock): () => void {
  const sets = gauge(registry, operatorCatalogue.sets)
  const replicas = gauge(registry, operatorCatalogue.replicas)
  const updates = gauge(registry, operatorCatalogue.updates)
  const updateReplicas = gauge(registry, operatorCatalogue.updateReplicas)
  const oldestUpdate = gauge(registry, operatorCatalogue.oldestUpdate)
  const gangs = gauge(registry, operatorCatalogue.gangs)
  const oldestPending = gauge(registry, operatorCatalogue.oldestPendingGang)
  const pods = gauge(registry, operatorCatalogue.pods)
  // The registry reads its metrics in the order of their creation, so the first metric of each group refreshes the
  // group.
  const stops = [
    onCollect(sets, () => {
      const found = countSets(caches.sets.list(), clock.now())
      setAll(sets, found.states)
      setAll(replicas, found.replicas)
      setAll(updates, found.updates)
      setAll(updateReplicas, found.updateReplicas)
      oldestUpdate.set(found.oldestUpdateSeconds)
    }),
    onCollect(gangs, () => {
      const counts = zeros(gangStates)
      let oldestSeconds = 0
      for (const gang of caches.gangs.list()) {
        const state = stateOfGang(gang)
        counts[state]++
        if (state !== 'pending') continue
        const complete = findCondition(gang.status?.conditions, conditionType.podGangInitialized)
        oldestSeconds = Math.max(oldestSeconds, secondsSince(complete?.lastTransitionTime, clock.now()))
      }
      setAll(gangs, counts)
      oldestPending.set(oldestSeconds)
    }),
    onCollect(pods, () => {
      const counts = zeros(podStates)
      for (const pod of caches.pods.list()) counts[stateOfPod(pod)]++
      setAll(pods, counts)
    }),
  ]
  return () => {
    for (const stop of stops) stop()
  }
}

function countSets(sets: ReturnType<Caches['sets']['list']>, now: number) {
  const states = zeros(setStates)
  const updates = zeros(updateStates)
  const replicas = { desired: 0, available: 0 }
  const updateReplicas = { updated: 0, outdated: 0 }
  let oldestUpdateSeconds = 0
  for (const set of sets) {
    states[stateOfSet(set)]++
    const desired = set.spec.replicas ?? 0
    replicas.desired += desired
    replicas.available += set.status?.availableReplicas ?? 0
    const update = stateOfUpdate(set)
    if (!update) continue
    updates[update]++
    const updated = Math.min(desired, set.status?.updatedReplicas ?? 0)
    updateReplicas.updated += updated
    updateReplicas.outdated += desired - updated
    if (update === 'paused' || update === 'partitioned') continue
    const started = set.status?.updateProgress?.updateStartedAt
    oldestUpdateSeconds = Math.max(oldestUpdateSeconds, secondsSince(started, now))
  }
  return { states, updates, replicas, updateReplicas, oldestUpdateSeconds }
}

function zeros<State extends string>(states: readonly State[]): Record<State, number> {
  return Object.fromEntries(states.map(state => [state, 0])) as Record<State, number>
}

function setAll(metric: Gauge<'state'>, counts: Readonly<Record<string, number>>): void {
  for (const [state, count] of Object.entries(counts)) metric.set({ state }, count)
}

/** 0 for a time that is missing, cannot be read, or lies in the future. */
function secondsSince(time: string | undefined, now: number): number {
  const seconds = (now - Date.parse(time ?? '')) / 1000
  return seconds > 0 ? seconds : 0
}
