// SPDX-License-Identifier: Apache-2.0

// A snapshot of one PodCliqueSet and its children from the caches. Sends no request and reads no clock. A set may have
// thousands of children, so planners look them up by name.
import type { ClusterTopologyBinding, OperatorConfiguration, PodClique } from '@grove/api'
import type { Caches } from '../caches/caches.ts'
import { setReplicaOf } from '../layout/clique-instance.ts'
import { replicaCount } from '../layout/layout.ts'
import { setLimitExceeded } from '../layout/limits.ts'
import { isControlledBy } from '../layout/owner.ts'
import type { StoredClique, StoredScalingGroup, StoredSet } from '../layout/stored.ts'
import type { ReplicaMemo } from '../memory/replica-memo.ts'
import type { OperatorContext } from '../operator-context.ts'
import { ownChildren } from '../ownership/owner-lookup.ts'
import type { LiveChildren } from '../revision/foreign-hashes.ts'
import { keepRevision, revisionOf } from '../revision/set-revision.ts'
import type { Breach } from '../termination/breach.ts'
import { replicaBreach } from '../termination/plan-set.ts'
import { hasOutdatedPods } from '../update/outdated-pods.ts'
import { type ReplicaState, replicaState } from '../update/replica-state.ts'
import { type GangFacts, gangsInOrder, type ReplicaGangs, replicaGangs } from './gangs.ts'
import { type Obstacle, replicaObstacles } from './stall.ts'

/** Looks up children that the set controls and that are not terminating. */
export interface SetChildren {
  cliqueNamed(name: string): StoredClique | undefined
  groupNamed(name: string): StoredScalingGroup | undefined
}

/** Computed for each replica from its children. */
export interface ReplicaFacts {
  readonly state: ReplicaState
  readonly breach: Breach | undefined
  readonly obstacles: readonly Obstacle[]
  readonly gangs: ReplicaGangs
}

export type Replicas = ReplicaMemo<ReplicaFacts>

/** Call this once per process: it registers an event handler, and every reconcile reads the result. */
export function rememberedReplicas({
  caches,
  memory,
  configuration,
}: Pick<OperatorContext, 'caches' | 'memory' | 'configuration'>): Replicas {
  caches.sets.onChange(change => {
    if (change.type === 'update') keepRevision(change.old, change.new)
  })
  return memory.replicas((set, replica, read) => {
    const revision = revisionOf(set)
    const children = {
      ...read,
      hasOutdatedPods: (clique: PodClique) => hasOutdatedPods(revision, clique, read.podsOf(clique)),
    }
    return {
      state: replicaState(set, replica, revision, children),
      breach: replicaBreach({ set, ...children }, replica),
      obstacles: replicaObstacles(set, replica, children),
      gangs: replicaGangs(set, replica, read, configuration),
    }
  })
}

export interface SetSnapshot {
  /** The set as stored now, with the spec and generation that this reconcile has synced. */
  readonly set: StoredSet
  /** States of all replicas of the set by their index, surge replicas included. */
  allReplicas(): readonly ReplicaState[]
  /** The state of a surge replica that is about to be created. */
  newReplica(replica: number): ReplicaState
  /** States of the replicas below this count that have children. */
  existingReplicas(count: number): readonly ReplicaState[]
  bindingNamed(name: string): ClusterTopologyBinding | undefined
  /** Reports whether every gang exists and has all of its pods, scheduled or not. */
  areGangsComplete(): boolean
  /** Existing gangs, base gangs first; undefined for a set above its limits, which may want any number. */
  gangs(): readonly GangFacts[] | undefined
  /** Obstacles of the replicas that have children. */
  obstacles(): Iterable<Obstacle>
  readonly configuration: OperatorConfiguration
}

/**
 * The set after a reconcile of `synced`; undefined if it was deleted meanwhile. The next reconcile handles a newer
 * spec.
 */
export function observeSynced(
  synced: StoredSet,
  context: OperatorContext,
  replicas: Replicas,
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
  const isTooLarge = setLimitExceeded(set, configuration) !== undefined
  // A set above its limit has few replicas compared with its count, so only existing ones are read.
  const existing = (count: number) =>
    isTooLarge
      ? Array.from(presentReplicas(set, caches), replica => replicas.once(set, replica))
      : replicas.all(set, count)
  return {
    set,
    allReplicas: () => statesOf(replicas.all(set, replicaCount(set))),
    newReplica: replica => replicas.once(set, replica).state,
    existingReplicas: count => statesOf(existing(count)).filter(({ exists }) => exists),
    gangs: () =>
      isTooLarge ? undefined : gangsInOrder(existing(replicaCount(set)).map(({ gangs }) => gangs)),
    obstacles: () => existing(replicaCount(set)).flatMap(({ obstacles }) => obstacles),
    bindingNamed: name => caches.topologyBindings.get({ name }),
    areGangsComplete: () =>
      !isTooLarge && existing(replicaCount(set)).every(({ gangs }) => gangs.areComplete),
    configuration,
  }
}

function statesOf(facts: readonly ReplicaFacts[]): ReplicaState[] {
  return facts.map(({ state }) => state)
}

export function observeChildren(set: StoredSet, caches: Caches): SetChildren {
  const { namespace, uid } = set.metadata
  const live = <T extends { metadata: { deletionTimestamp?: string } }>(object: T | undefined) =>
    object && !object.metadata.deletionTimestamp && isControlledBy(object, uid) ? object : undefined
  return {
    cliqueNamed: name => live(caches.cliques.get({ namespace, name })),
    groupNamed: name => live(caches.groups.get({ namespace, name })),
  }
}

function presentReplicas({ metadata: { uid } }: StoredSet, caches: Caches): Set<number> {
  return new Set(
    [...caches.cliques.byIndex('controller', uid), ...caches.groups.byIndex('controller', uid)]
      .filter(({ metadata }) => !metadata.deletionTimestamp)
      .map(setReplicaOf)
      .filter(index => index !== undefined),
  )
}

/** The children from which the reached revision of a set is derived. */
export function revisionWitnesses(set: StoredSet, caches: Caches): LiveChildren {
  const { namespace } = set.metadata
  return {
    cliques: ownChildren(set, caches).cliques.filter(({ metadata }) => !metadata.deletionTimestamp),
    gangNamed: name => caches.gangs.get({ namespace, name }),
  }
}
