// SPDX-License-Identifier: Apache-2.0

import { scheduler } from '@grove/api'
import type { StoredSet } from '../stored.ts'
import type { SchedulerBackend } from './backend.ts'
import { defaultScheduler } from './default-scheduler.ts'
import { kaiScheduler } from './kai.ts'
import { lpxScheduler } from './lpx.ts'
import { volcano } from './volcano.ts'

const known: ReadonlyMap<string, SchedulerBackend> = new Map(
  [defaultScheduler, kaiScheduler, lpxScheduler, volcano].map(backend => [backend.name, backend]),
)

/** The backends that the operator configuration enables. */
export interface SchedulerBackends {
  readonly default: SchedulerBackend
  /** The backend of that name, the default for none; undefined when it is not enabled. */
  find(name: string | undefined): SchedulerBackend | undefined
  /** What a set's gangs are labelled with: the first name that a clique gives, else the default. */
  nameFor(set: StoredSet): string
}

export function schedulerBackends(enabled: readonly string[], defaultName: string): SchedulerBackends {
  const byName = new Map(enabled.map(name => [name, known.get(name)]))
  const byDefault = byName.get(defaultName) ?? known.get(scheduler.default)!
  return {
    default: byDefault,
    find: name => (name ? byName.get(name) : byDefault),
    nameFor: set =>
      set.spec.template.cliques.find(template => template.spec.podSpec.schedulerName)?.spec.podSpec
        .schedulerName ?? byDefault.name,
  }
}
