// SPDX-License-Identifier: Apache-2.0

// Which member cliques a scaling group lacks, and which of its replicas are too many.
import type { PodClique } from '@grove/api'
import { mostCreated } from '../apply/writes.ts'
import { replicaIndexOf } from '../layout/clique-instance.ts'
import {
  type CliqueInstance,
  eachIndex,
  memberCliques,
  memberNamed,
  type ScalingGroupInstance,
} from '../layout/layout.ts'
import type { StoredScalingGroup, StoredSet } from '../layout/stored.ts'

export interface GroupInput {
  readonly set: StoredSet
  readonly group: StoredScalingGroup
  readonly instance: ScalingGroupInstance
  /** Controlled by this group, terminating ones included. */
  readonly cliques: readonly PodClique[]
}

export interface GroupPlan {
  /** Missing cliques, at most `mostCreated`. One whose predecessor is still going waits for its end. */
  readonly create: readonly CliqueInstance[]
  /** Indexes of replicas beyond the wanted number, ascending. */
  readonly removeReplicas: readonly number[]
  /** Existing members that are wanted, with what they are an instance of. */
  readonly keep: readonly { readonly clique: PodClique; readonly instance: CliqueInstance }[]
}

export function planGroup({ set, group, instance, cliques }: GroupInput): GroupPlan {
  const byName = new Map(cliques.map(clique => [clique.metadata.name, clique]))
  const surplus = cliques
    .filter(clique => !clique.metadata.deletionTimestamp)
    .map(replicaIndexOf)
    .filter(index => index !== undefined)
    .filter(index => index >= group.spec.replicas)
  const missing = Iterator.from(eachIndex(0, group.spec.replicas))
    .flatMap(replica => memberCliques(set, instance, replica))
    .filter(member => !byName.has(member.name))
  return {
    create: missing.take(mostCreated).toArray(),
    removeReplicas: [...new Set(surplus)].sort((a, b) => a - b),
    keep: cliques.flatMap(clique => {
      const member = clique.metadata.deletionTimestamp
        ? undefined
        : memberNamed(set, instance, clique.metadata.name)
      return member && member.group!.replica < group.spec.replicas ? [{ clique, instance: member }] : []
    }),
  }
}
