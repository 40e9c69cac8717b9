// SPDX-License-Identifier: Apache-2.0

// A snapshot of one PodCliqueSet and its children from the caches. No request, no clock. A set may have thousands of
// children, so they are looked up by name when a planner asks for them.
import {
  type ClusterTopologyBinding,
  label,
  type OperatorConfiguration,
  type PodClique,
  type PodCliqueScalingGroup,
} from '@grove/api'
import type { Caches } from '../caches/caches.ts'
import { numberLabel } from '../layout/clique-instance.ts'
import { isControlledBy } from '../layout/owner.ts'
import type { StoredClique, StoredScalingGroup, StoredSet } from '../layout/stored.ts'
import type { OperatorContext } from '../operator-context.ts'
import { ownChildren } from '../ownership/owner-lookup.ts'
import type { LiveChildren } from '../revision/foreign-hashes.ts'
import { areGangsComplete } from './gangs.ts'
import type { OutdatedCliques } from './outdated-cliques.ts'

/** Children that the set controls, without terminating ones. */
export interface SetChildren {
  presentReplicas(): Iterable<number>
  cliqueNamed(name: string): StoredClique | undefined
  groupNamed(name: string): StoredScalingGroup | undefined
  membersOf(group: PodCliqueScalingGroup): readonly StoredClique[]
  hasOutdatedPods(clique: PodClique): boolean
}

export interface SetSnapshot extends SetChildren {
  /** The set as stored now, with the spec and generation that this reconcile has synced. */
  readonly set: StoredSet
  bindingNamed(name: string): ClusterTopologyBinding | undefined
  areGangsComplete(): boolean
  readonly configuration: OperatorConfiguration
}

/** The set after a reconcile of `synced`; undefined if it was deleted meanwhile. A newer spec is for the next reconcile. */
export function observeSynced(
  synced: StoredSet,
  context: OperatorContext,
  outdated: OutdatedCliques,
): SetSnapshot | undefined {
  const { caches, configuration } = context
  const known = caches.sets.get(synced.metadata)
  if (known?.metadata.uid !== synced.metadata.uid || known.metadata.deletionTimestamp) return undefined
  const { generation, ...metadata } = known.metadata
  const { generation: syncedGeneration = generation } = synced.metadata
  const set: StoredSet = {
    ...known,
    metadata: { ...metadata, ...(syncedGeneration !== undefined && { generation: syncedGeneration }) },
    spec: synced.spec,
  }
  return {
    ...observeChildren(set, caches, outdated),
    set,
    bindingNamed: name => caches.topologyBindings.get({ name }),
    areGangsComplete: () => areGangsComplete(set, context),
    configuration,
  }
}

export function observeChildren(set: StoredSet, caches: Caches, outdated: OutdatedCliques): SetChildren {
  const { namespace, uid } = set.metadata
  const live = <T extends { metadata: { deletionTimestamp?: string } }>(object: T | undefined) =>
    object && !object.metadata.deletionTimestamp && isControlledBy(object, uid) ? object : undefined
  return {
    presentReplicas: () => presentReplicas(set, caches),
    cliqueNamed: name => live(caches.cliques.get({ namespace, name })),
    groupNamed: name => live(caches.groups.get({ namespace, name })),
    membersOf: group =>
      caches.cliques
        .byIndex('controller', group.metadata.uid ?? '')
        .filter(clique => !clique.metadata.deletionTimestamp),
    hasOutdatedPods: clique => outdated.has(set, clique),
  }
}

function presentReplicas({ metadata: { uid } }: StoredSet, caches: Caches): Set<number> {
  return new Set(
    [...caches.cliques.byIndex('controller', uid), ...caches.groups.byIndex('controller', uid)]
      .filter(({ metadata }) => !metadata.deletionTimestamp)
      .map(({ metadata }) => numberLabel(metadata.labels, label.setReplicaIndex))
      .filter(index => index !== undefined),
  )
}

/** The children that show which revision a set has reached. */
export function revisionWitnesses(set: StoredSet, caches: Caches): LiveChildren {
  const { namespace } = set.metadata
  return {
    cliques: ownChildren(set, caches).cliques.filter(({ metadata }) => !metadata.deletionTimestamp),
    gangNamed: name => caches.gangs.get({ namespace, name }),
  }
}
