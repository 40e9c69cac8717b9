// SPDX-License-Identifier: Apache-2.0

// A snapshot of one PodClique from the caches. Sends no request and reads no clock.
import type { OperatorConfiguration } from '@grove/api'
import { cliqueInstanceOf, isWanted } from '../layout/clique-instance.ts'
import type { CliqueInstance } from '../layout/layout.ts'
import { type CliqueKey, refOf } from '../layout/object-key.ts'
import type { StoredClique, StoredGang, StoredPod, StoredSet } from '../layout/stored.ts'
import type { OperatorContext } from '../operator-context.ts'
import { owningSet } from '../ownership/owner-lookup.ts'
import type { SchedulerBackend } from '../schedulers/backend.ts'
import { schedulerOf } from '../schedulers/registry.ts'
import type { BaseGang } from './gates.ts'

export interface CliqueSnapshot {
  readonly set: StoredSet
  readonly clique: StoredClique
  readonly instance: CliqueInstance
  readonly pods: readonly StoredPod[]
  readonly gang: StoredGang | undefined
  /** Undefined for cliques of a base gang. */
  readonly base: BaseGang | undefined
  /** True if the set and the group still want the replica that the clique belongs to. */
  readonly isWanted: boolean
  /** True while the operator is deleting that replica. New pods would be deleted with it. */
  readonly isBeingRemoved: boolean
  /** True if cliques of scaled gangs wait for this one to be scheduled. */
  readonly hasFollowers: boolean
  readonly scheduler: { readonly name: string; readonly backend: SchedulerBackend | undefined }
  readonly configuration: OperatorConfiguration
  readonly waiterImage: string | undefined
}

export type ObservedClique =
  /** The clique does not exist, or its set is gone or terminating. The garbage collector deletes the rest. */
  | { readonly kind: 'absent' }
  | { readonly kind: 'terminating'; readonly clique: StoredClique }
  /** No template of the set defines this clique: its labels were edited, or its template was removed. */
  | { readonly kind: 'unknown'; readonly set: StoredSet; readonly clique: StoredClique }
  | { readonly kind: 'live'; readonly snapshot: CliqueSnapshot }

export function observeClique(key: CliqueKey, context: OperatorContext): ObservedClique {
  const { caches } = context
  const clique = caches.cliques.get(refOf(key))
  if (!clique) return { kind: 'absent' }
  if (clique.metadata.deletionTimestamp) return { kind: 'terminating', clique }
  const set = owningSet(caches, clique)
  if (!set || set.metadata.deletionTimestamp) return { kind: 'absent' }
  const instance = cliqueInstanceOf(set, clique)
  if (!instance) return { kind: 'unknown', set, clique }
  return { kind: 'live', snapshot: snapshotOf(set, clique, instance, context) }
}

function snapshotOf(
  set: StoredSet,
  clique: StoredClique,
  instance: CliqueInstance,
  context: OperatorContext,
): CliqueSnapshot {
  const { caches, memory, backends, configuration, waiterImage } = context
  const { namespace } = clique.metadata
  const { podGang, basePodGang, setReplica } = instance
  const name = clique.spec.podSpec.schedulerName || schedulerOf(context, set)
  return {
    set,
    clique,
    instance,
    pods: caches.podsOf(clique),
    gang: caches.gangs.get({ namespace, name: podGang }),
    base: basePodGang
      ? {
          gang: caches.gangs.get({ namespace, name: basePodGang }),
          cliqueNamed: named => caches.cliques.get({ namespace, name: named }),
        }
      : undefined,
    isWanted: isWanted(set, instance, caches),
    isBeingRemoved: memory.removals.has(set, setReplica) || isRemovedByGroup(instance, namespace, context),
    hasFollowers: caches.cliques.countByIndex('basePodGang', `${namespace}/${podGang}`) > 0,
    scheduler: { name, backend: backends.find(name) },
    configuration,
    waiterImage,
  }
}

function isRemovedByGroup(
  { group }: CliqueInstance,
  namespace: string,
  { caches, memory }: OperatorContext,
): boolean {
  const owner = group && caches.groups.get({ namespace, name: group.instance.name })
  return owner !== undefined && memory.groupRemovals.has(owner, group!.replica)
}
