// SPDX-License-Identifier: Apache-2.0

import { label, type PodGang, type SchedulerName, scheduler } from '@grove/api'
import type { StoredSet } from '../layout/stored.ts'
import type { SchedulerBackend } from './backend.ts'
import { defaultScheduler } from './default-scheduler.ts'
import { groveScheduler } from './grove.ts'
import { kaiScheduler } from './kai.ts'
import { kubernetesScheduler } from './kubernetes.ts'
import { lpxScheduler } from './lpx.ts'
import { volcanoScheduler } from './volcano.ts'

const known: Readonly<Record<SchedulerName, SchedulerBackend>> = {
  [scheduler.kai]: kaiScheduler,
  [scheduler.default]: defaultScheduler,
  [scheduler.volcano]: volcanoScheduler,
  [scheduler.lpx]: lpxScheduler,
  [scheduler.grove]: groveScheduler,
  [scheduler.kubernetes]: kubernetesScheduler,
}

/** The backends that the operator configuration enables. */
export interface SchedulerBackends {
  readonly default: SchedulerBackend
  /** The backend of this name, or the default if no name is given; undefined if it is not enabled. */
  find(name: string | undefined): SchedulerBackend | undefined
  /**
   * The scheduler of a new set: the first one that a clique names, else the default. Existing gangs of the set name the
   * scheduler that an earlier process used.
   */
  nameFor(set: StoredSet, gangs?: () => readonly PodGang[]): string
}

/** Throws for a name without a backend. Validation ensures that a loaded configuration has none. */
export function schedulerBackends(enabled: readonly string[], defaultName: string): SchedulerBackends {
  const byName = new Map(enabled.map(name => [name, backendNamed(name)]))
  const byDefault = backendNamed(defaultName)
  const scheduledBefore = (gangs: readonly PodGang[]) =>
    gangs.map(gang => gang.metadata.labels?.[label.schedulerName]).find(name => name && byName.has(name))
  return {
    default: byDefault,
    find: name => (name ? byName.get(name) : byDefault),
    nameFor: (set, gangs = () => []) => namedBy(set) ?? scheduledBefore(gangs()) ?? byDefault.name,
  }
}

function backendNamed(name: string): SchedulerBackend {
  const backend = Object.values(known).find(one => one.name === name)
  if (!backend) throw new Error(`there is no scheduler backend "${name}"`)
  return backend
}

function namedBy(set: StoredSet): string | undefined {
  const named = set.spec.template.cliques.find(clique => clique.spec.podSpec.schedulerName)
  return named?.spec.podSpec.schedulerName
}

/**
 * The scheduler of all pods of a set. Its gangs carry the name. A default stays the one of the first call, because a
 * new default would split the pods of one gang between two schedulers.
 */
export function schedulerOf({ backends, caches, memory }: SchedulersAndGangs, set: StoredSet): string {
  const gangs = () => caches.gangs.byIndex('controller', set.metadata.uid)
  return namedBy(set) ?? memory.schedulers.getOrAdd(set, () => backends.nameFor(set, gangs))
}

interface SchedulersAndGangs {
  readonly backends: SchedulerBackends
  readonly memory: { readonly schedulers: { getOrAdd(set: StoredSet, make: () => string): string } }
  readonly caches: { readonly gangs: { byIndex(index: 'controller', uid: string): readonly PodGang[] } }
}
