// SPDX-License-Identifier: Apache-2.0

// Ensures the gangs of a set. The gang controller decides which pods they list.
import {
  names,
  type OperatorConfiguration,
  type PodClique,
  type PodCliqueScalingGroup,
  type PodGang,
  type PodGangStatusSummary,
} from '@grove/api'
import { execute } from '../apply/execute.ts'
import { ReconcileFailed } from '../errors/coded-error.ts'
import { type GangKey, gangKeyOf, wantedGangKey } from '../layout/gang-key.ts'
import {
  checkMembers,
  eachPodGang,
  eachScaledPodGang,
  type GroupReplicas,
  groupReplicasFromTemplate,
} from '../layout/layout.ts'
import { groupLimitExceeded, replicasWithMembers } from '../layout/limits.ts'
import { isControlledBy } from '../layout/owner.ts'
import type { StoredGang, StoredScalingGroup, StoredSet } from '../layout/stored.ts'
import type { OperatorContext } from '../operator-context.ts'
import { gangDeletions } from '../podgang/removal.ts'
import { isInitialized } from '../state/child-state.ts'
import { gangSummary } from './gang-statuses.ts'
import { gangObstacle, type Obstacle } from './stall.ts'

/** The most missing gangs that one reconcile enqueues. Their cliques enqueue them as well, as soon as they exist. */
const mostEnqueued = 10_000

/**
 * Deletes surplus gangs and creates missing ones. Compares `all` existing gangs if the set has changed. Gangs of replicas from
 * `below` on are not missed: their cliques are created later, and a gang without pods would be written twice.
 */
export async function syncGangs(
  set: StoredSet,
  { all, below }: { readonly all: boolean; readonly below: number },
  context: OperatorContext,
  enqueueGang: (key: GangKey) => void,
  signal: AbortSignal,
): Promise<void> {
  const { caches, configuration } = context
  const { namespace } = set.metadata
  checkMembers(set)
  const groupReplicas = groupReplicasOf(
    set,
    {
      groupNamed: name => controlled(set, caches.groups.get({ namespace, name })),
      membersOf: ({ metadata }) => caches.cliques.byIndex('controller', metadata.uid ?? ''),
    },
    configuration,
  )
  const excess: StoredGang[] = []
  for (const gang of caches.gangs.byIndex('controller', set.metadata.uid)) {
    const key = wantedGangKey(set, gang.metadata.name, groupReplicas)
    if (key && all) enqueueGang(key)
    if (!key) excess.push(gang)
  }
  const failures = (await execute(gangDeletions(set, excess, caches), context, { signal })).failures
  const missing = Iterator.from(eachPodGang(set, groupReplicas)).filter(
    ({ name, setReplica }) => setReplica < below && !controlled(set, caches.gangs.get({ namespace, name })),
  )
  for (const gang of missing.take(mostEnqueued)) enqueueGang(gangKeyOf(set, gang))
  if (failures.length) throw new ReconcileFailed(failures)
}

/** The facts about a gang that the status of its set reports. */
export interface GangFacts {
  readonly summary: PodGangStatusSummary
  readonly obstacle: Obstacle | undefined
}

/** The gangs of one replica of a set. */
export interface ReplicaGangs {
  /** Undefined until the gang exists. */
  readonly base: GangFacts | undefined
  /** Existing scaled gangs, by group. */
  readonly scaled: readonly GangFacts[]
  /** True if every gang exists and has all of its pods, scheduled or not. */
  readonly areComplete: boolean
}

/** Lookups of children that the set controls. */
export interface GangChildren {
  gangNamed(name: string): PodGang | undefined
  groupNamed(name: string): PodCliqueScalingGroup | undefined
  membersOf(group: PodCliqueScalingGroup): readonly PodClique[]
}

export function replicaGangs(
  set: StoredSet,
  replica: number,
  children: GangChildren,
  configuration: OperatorConfiguration,
): ReplicaGangs {
  const base = children.gangNamed(names.basePodGang(set.metadata.name, replica))
  const scaled = Array.from(
    eachScaledPodGang(set, replica, groupReplicasOf(set, children, configuration)),
    ({ name }) => children.gangNamed(name),
  )
  return {
    base: base && gangFacts(base),
    scaled: scaled.flatMap(gang => (gang ? gangFacts(gang) : [])),
    areComplete: [base, ...scaled].every(gang => gang !== undefined && isInitialized(gang)),
  }
}

function gangFacts(gang: PodGang): GangFacts {
  return { summary: gangSummary(gang), obstacle: gangObstacle(gang) }
}

/** The existing gangs of replicas: base gangs first, then scaled gangs. */
export function gangsInOrder(replicas: readonly ReplicaGangs[]): readonly GangFacts[] {
  const bases = replicas.flatMap(({ base }) => base ?? [])
  return [...bases, ...replicas.flatMap(({ scaled }) => scaled)]
}

/**
 * Returns the number of replicas of a group that have gangs. A group above its limit has gangs only for replicas with
 * members, because the operator creates no further members.
 */
function groupReplicasOf(
  set: StoredSet,
  { groupNamed, membersOf }: Pick<GangChildren, 'groupNamed' | 'membersOf'>,
  configuration: OperatorConfiguration,
): GroupReplicas {
  return group => {
    const live = groupNamed(group.name)
    if (!live) return groupReplicasFromTemplate(group)
    if (!groupLimitExceeded(set, group, live.spec.replicas, configuration)) return live.spec.replicas
    return replicasWithMembers(membersOf(live), configuration.limits)
  }
}

function controlled<T extends StoredGang | StoredScalingGroup>(
  { metadata: { uid } }: StoredSet,
  object: T | undefined,
): T | undefined {
  return object && isControlledBy(object, uid) ? object : undefined
}
