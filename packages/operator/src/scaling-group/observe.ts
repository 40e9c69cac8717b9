// SPDX-License-Identifier: Apache-2.0

// A snapshot of one PodCliqueScalingGroup from the caches. Sends no request and reads no clock.
import type { OperatorConfiguration, PodClique } from '@grove/api'
import { groupInstanceOf, setReplicaOf } from '../layout/clique-instance.ts'
import type { ScalingGroupInstance } from '../layout/layout.ts'
import { type GroupKey, refOf } from '../layout/object-key.ts'
import type { StoredClique, StoredGang, StoredPod, StoredScalingGroup, StoredSet } from '../layout/stored.ts'
import type { OperatorContext } from '../operator-context.ts'
import { owningSet } from '../ownership/owner-lookup.ts'
import { gangsOf } from '../podgang/removal.ts'
import { revisionOf } from '../revision/set-revision.ts'
import { hasOutdatedPods } from '../update/outdated-pods.ts'

export interface GroupSnapshot {
  readonly set: StoredSet
  readonly group: StoredScalingGroup
  /** Undefined if the set has no scaling group that defines this one. */
  readonly instance: ScalingGroupInstance | undefined
  /** The cliques that the group controls, including terminating ones. */
  readonly cliques: readonly StoredClique[]
  podsOf(clique: StoredClique): readonly StoredPod[]
  /** Evaluates the pods themselves, because a status may be older. */
  hasOutdatedPods(clique: PodClique): boolean
  /** The gangs of these cliques. */
  gangsOf(cliques: readonly StoredClique[]): readonly StoredGang[]
  /** True while the operator is deleting the set replica of the group. New members would be deleted with it. */
  readonly isBeingRemoved: boolean
  readonly configuration: OperatorConfiguration
}

export type ObservedGroup =
  /** The group does not exist, or its set is gone or terminating. The garbage collector deletes the rest. */
  | { readonly kind: 'absent' }
  | { readonly kind: 'terminating'; readonly group: StoredScalingGroup }
  | { readonly kind: 'live'; readonly snapshot: GroupSnapshot }

export function observeGroup(key: GroupKey, context: OperatorContext): ObservedGroup {
  const { caches, memory, configuration } = context
  const group = caches.groups.get(refOf(key))
  if (!group) return { kind: 'absent' }
  if (group.metadata.deletionTimestamp) return { kind: 'terminating', group }
  const set = owningSet(caches, group)
  if (!set || set.metadata.deletionTimestamp) return { kind: 'absent' }
  const replica = setReplicaOf(group)
  return {
    kind: 'live',
    snapshot: {
      set,
      group,
      instance: groupInstanceOf(set, group),
      cliques: caches.cliques.byIndex('controller', group.metadata.uid),
      podsOf: clique => caches.podsOf(clique),
      hasOutdatedPods: clique => hasOutdatedPods(revisionOf(set), clique, caches.podsOf(clique)),
      gangsOf: cliques => gangsOf(set, cliques, caches),
      isBeingRemoved: replica !== undefined && memory.removals.has(set, replica),
      configuration,
    },
  }
}
