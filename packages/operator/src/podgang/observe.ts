// SPDX-License-Identifier: Apache-2.0

// A snapshot of one PodGang from the caches. Sends no request and reads no clock.
import type { TopologyLevel } from '@grove/api'
import { type GangKey, gangInstanceOf } from '../layout/gang-key.ts'
import type { PodGangInstance } from '../layout/layout.ts'
import { isTemplateTooLarge } from '../layout/limits.ts'
import type { StoredGang, StoredSet } from '../layout/stored.ts'
import { topologyName } from '../layout/topology.ts'
import type { OperatorContext } from '../operator-context.ts'
import type { SchedulerBackend } from '../schedulers/backend.ts'
import { schedulerOf } from '../schedulers/registry.ts'
import type { GangMembers } from './complete.ts'

export interface GangSnapshot {
  readonly set: StoredSet
  readonly instance: PodGangInstance
  readonly existing: StoredGang | undefined
  readonly members: GangMembers
  readonly levels: readonly TopologyLevel[] | undefined
  readonly schedulerName: string
  readonly backend: SchedulerBackend
  /** True while the operator is deleting the replica. */
  readonly isBeingRemoved: boolean
}

/** Undefined if the set does not want the gang or is terminating. */
export function observeGang(
  set: StoredSet,
  key: GangKey,
  context: OperatorContext,
): GangSnapshot | undefined {
  const { backends, caches, configuration, memory } = context
  const { namespace } = set.metadata
  if (set.metadata.deletionTimestamp || isTemplateTooLarge(set, configuration)) return undefined
  const groupReplicas = (name: string) => caches.groups.get({ namespace, name })?.spec.replicas ?? 0
  const instance = gangInstanceOf(set, key, groupReplicas)
  if (!instance) return undefined
  const schedulerName = schedulerOf(context, set)
  return {
    set,
    instance,
    existing: caches.gangs.get({ namespace, name: instance.name }),
    members: {
      cliqueNamed: name => caches.cliques.get({ namespace, name }),
      podsOf: clique => caches.podsOf(clique),
      isScaledAway: ({ group }) => {
        const live = group && caches.groups.get({ namespace, name: group.instance.name })
        return live !== undefined && live.spec.replicas <= group!.replica
      },
    },
    levels: levelsOf(context, set),
    schedulerName,
    backend: backends.find(schedulerName) ?? backends.default,
    isBeingRemoved: memory.removals.has(set, instance.setReplica),
  }
}

/** The topology levels of a set: empty if its topology is missing, undefined if the feature is disabled. */
function levelsOf(
  { caches, configuration }: OperatorContext,
  set: StoredSet,
): readonly TopologyLevel[] | undefined {
  if (!configuration.topologyAwareScheduling.enabled) return undefined
  const name = topologyName(set)
  return (name && caches.topologyBindings.get({ name })?.spec.levels) || []
}
