// SPDX-License-Identifier: Apache-2.0

// Measures how long a new set takes until all of its pods are created, scheduled and ready. Keeps three counters per
// set until the set is ready. A change of a pod costs one lookup and, for such a set, two increments.
import { label, type Pod } from '@grove/api'
import { type Clock, histogram, type Registry } from '@grove/kube'
import type { Caches } from '../caches/caches.ts'
import { type SetKey, setKey } from '../layout/object-key.ts'
import type { StoredSet } from '../layout/stored.ts'
import { milestones, operatorCatalogue } from './catalogue.ts'
import { podCount, sizeClassOf, stateOfPod } from './states.ts'

interface Startup {
  readonly uid: string
  readonly createdAt: number
  wanted: number
  /** Pods that have reached the milestone of this index. */
  readonly reached: [created: number, scheduled: number, ready: number]
  /** The index of the next milestone. */
  next: number
}

/** Returns a function that ends the measurement. */
export function observeStartups(
  registry: Registry,
  caches: Pick<Caches, 'sets' | 'pods'>,
  clock: Clock,
): () => void {
  const seconds = histogram(registry, operatorCatalogue.startup)
  // Creation times have a resolution of one second.
  const from = Math.floor(clock.now() / 1000) * 1000
  const startups = new Map<SetKey, Startup>()
  const advance = (key: SetKey, startup: Startup) => {
    for (; startup.next < milestones.length; startup.next++) {
      if (startup.wanted === 0 || startup.reached[startup.next]! < startup.wanted) return
      const labels = { milestone: milestones[startup.next]!, size: sizeClassOf(startup.wanted) }
      seconds.observe(labels, Math.max(0, clock.now() - startup.createdAt) / 1000)
    }
    startups.delete(key)
  }
  const begin = (set: StoredSet) => {
    const createdAt = Date.parse(set.metadata.creationTimestamp ?? '')
    if (!(createdAt >= from) || set.metadata.deletionTimestamp) return
    startups.set(setKey(set.metadata), {
      uid: set.metadata.uid,
      createdAt,
      wanted: podCount(set),
      reached: [0, 0, 0],
      next: 0,
    })
  }
  const stops = [
    caches.sets.onChange(change => {
      const set = change.new ?? change.old
      const key = setKey(set.metadata)
      if (change.type === 'add') return begin(set)
      const startup = startups.get(key)
      if (startup?.uid !== set.metadata.uid) return
      if (change.type === 'delete' || set.metadata.deletionTimestamp) return void startups.delete(key)
      startup.wanted = podCount(set)
      advance(key, startup)
    }),
    caches.pods.onChange(change => {
      if (startups.size === 0) return
      const key = setOf(change.new ?? change.old)
      const startup = startups.get(key)
      if (!startup) return
      const before = change.old ? milestonesOf(change.old) : 0
      const after = change.new ? milestonesOf(change.new) : 0
      for (let index = after; index < before; index++) startup.reached[index]! -= 1
      for (let index = before; index < after; index++) startup.reached[index]! += 1
      if (after > before) advance(key, startup)
    }),
  ]
  return () => {
    for (const stop of stops) stop()
  }
}

/** The number of milestones that a pod has reached. */
function milestonesOf(pod: Pod): number {
  const state = stateOfPod(pod)
  if (state === 'ready') return 3
  if (state === 'starting') return 2
  return state === 'gated' || state === 'pending' ? 1 : 0
}

function setOf({ metadata: { namespace, labels } }: Pod): SetKey {
  return setKey({ namespace, name: labels?.[label.partOf] })
}
