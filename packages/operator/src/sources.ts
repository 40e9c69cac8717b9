// SPDX-License-Identifier: Apache-2.0

// What wakes each controller, and how long it may wait for more of the same.
import {
  type ClusterTopologyBinding,
  label,
  type Pod,
  type PodClique,
  type PodCliqueSet,
  type PodGang,
} from '@grove/api'
import {
  type Change,
  type KeyRequest,
  type KubeObject,
  type Logger,
  type Source,
  type Stored,
  sourceOf,
  type WorkQueue,
} from '@grove/kube'
import { calmly, calmOfClique, calmOfParent, calmOfUpdate } from './calm.ts'
import { isControlledBy } from './child-objects.ts'
import { claimSources, domainSources } from './device-wake-ups.ts'
import { replicaCount } from './layout.ts'
import { keyOf, type ObjectKey, refOf } from './object-key.ts'
import { isInitialized } from './podclique/gates.ts'
import { isUpdatingSet, updatingReplicas } from './podcliqueset/update.ts'
import { type GangKey, gangKeyOfMember } from './podgang/key.ts'
import type { GangReconciler } from './podgang/reconcile.ts'
import type { StoredSet } from './stored.ts'
import { topologyName } from './topology.ts'
import {
  isCliqueWorthy,
  isGangWorthy,
  isMendable,
  isSetWorthy,
  isTamperedWith,
  memberOfGroup,
  ownerOfPod,
  setOfChild,
  setsOf,
} from './wake-ups.ts'
import type { World } from './world.ts'

/** What wakes a set: itself, its children, and what somebody takes away of them. */
export function setSources(world: World, log: Logger, queue: () => WorkQueue<ObjectKey>) {
  const ofChildren = (source: Source<ObjectKey>) =>
    calmly(source, queue, key => {
      const set = world.sets.get(refOf(key)) as StoredSet | undefined
      const children = world.cliques.countByIndex('set', key)
      return set && isUpdatingSet(set) ? calmOfUpdate(children) : calmOfParent(children)
    })
  return [
    from(world.sets, log, change =>
      isSetWorthy(change) || isResized(change) ? [keyOf(change.new ?? change.old)] : [],
    ),
    ofChildren(from(world.cliques, log, setOfChild)),
    ofChildren(from(world.groups, log, setOfChild)),
    ...[world.services, world.serviceAccounts, world.roles, world.roleBindings, world.autoscalers].map(
      cache =>
        sourceOf<Change<KubeObject>, ObjectKey>(
          handler => cache.onChange(handler as never),
          change => (isTamperedWith(change) ? setsOf(change) : []),
          log,
        ),
    ),
    ...(world.controllerRevisions
      ? [from(world.controllerRevisions, log, change => (change.type === 'delete' ? setsOf(change) : []))]
      : []),
    // What is edited of a gang its own controller mends.
    ofChildren(
      from(world.gangs, log, change =>
        change.type === 'delete' || hasBecomeComplete(change) ? setsOf(change) : [],
      ),
    ),
    ...claimSources(world, 'podCliqueSet', log),
    ...domainSources(world, log).map(ofChildren),
    from(world.topologyBindings, log, change =>
      setsWithTopology(world, (change.new ?? change.old) as ClusterTopologyBinding),
    ),
  ]
}

export function bindingSources(world: World, log: Logger) {
  return [
    sourceOf<Change<ClusterTopologyBinding>, string>(
      handler => world.topologyBindings.onChange(handler),
      change => (change.type !== 'delete' && isSetWorthy(change) ? [change.new.metadata.name] : []),
      log,
    ),
    // Topologies of schedulers that somebody changed: whose they are, their owner or the bindings say.
    ...(world.optional.kaiTopologies
      ? [
          sourceOf<Change<KubeObject>, string>(
            handler => world.optional.kaiTopologies!.onChange(handler as never),
            change => bindingsOf(world, change.new ?? change.old),
            log,
          ),
        ]
      : []),
  ]
}

function bindingsOf(world: World, topology: Stored<KubeObject>): string[] {
  return world.topologyBindings
    .list()
    .filter(
      binding =>
        isControlledBy(topology, binding.metadata.uid) ||
        (binding.spec.schedulerTopologyBindings ?? []).some(
          entry => entry.topologyReference === topology.metadata.name,
        ),
    )
    .map(binding => binding.metadata.name)
}

function setsWithTopology(world: World, binding: ClusterTopologyBinding): ObjectKey[] {
  return world.sets
    .list()
    .filter(set => topologyName(set as StoredSet) === binding.metadata.name)
    .map(keyOf)
}

export function groupSources(world: World, log: Logger, queue: () => WorkQueue<ObjectKey>) {
  return [
    from(world.groups, log, change => (change.type === 'delete' ? [] : [keyOf(change.new)])),
    calmly(from(world.cliques, log, memberOfGroup), queue, key =>
      calmOfParent(world.cliques.countByIndex('controller', uidOf(world.groups.get(refOf(key))))),
    ),
    from(world.sets, log, change => childrenToWake(world, change, 'groups')),
    ...claimSources(world, 'podCliqueScalingGroup', log),
  ]
}

export function cliqueSources(world: World, log: Logger, queue: () => WorkQueue<ObjectKey>) {
  return [
    // New cliques go first: pods that exist can be placed while further ones are made, but not the other way
    // round.
    from(world.cliques, log, change => [
      ...(change.type === 'add' ? [{ key: keyOf(change.new), priority: 'user' as const }] : []),
      ...(change.type === 'update' && isCliqueWorthy(change) ? [keyOf(change.new)] : []),
      ...scaledCliquesBehind(world, change),
    ]),
    calmly(
      from(world.pods, log, change =>
        isOfLivingSet(world, change) ? ownerOfPod(change.new ?? change.old) : [],
      ),
      queue,
      key => calmOfClique(world.pods.countByIndex('controller', uidOf(world.cliques.get(refOf(key))))),
    ),
    from(world.gangs, log, change => (isOfLivingSet(world, change) ? cliquesOfGang(world, change) : [])),
    from(world.sets, log, change => childrenToWake(world, change, 'cliques')),
    ...claimSources(world, 'podClique', log),
  ]
}

export function gangSources(world: World, log: Logger, gangs: GangReconciler) {
  // What somebody did to a gang, or to what its scheduler reads of it, is undone.
  const mended = <T extends KubeObject>(cache: Observable<T>) =>
    sourceOf<Change<T>, GangKey>(
      handler => cache.onChange(handler),
      change => {
        const key = isMendable(change) ? gangs.gangToMend(change) : undefined
        return key ? [key] : []
      },
      log,
    )
  const ofMember = (change: Change<KubeObject>): GangKey[] => {
    const key = gangKeyOfMember(change.new ?? change.old)
    return key ? [key] : []
  }
  return [
    sourceOf<Change<Pod>, GangKey>(
      handler => world.pods.onChange(handler),
      change => (isGangWorthy(change) && isOfLivingSet(world, change) ? ofMember(change) : []),
      log,
    ),
    sourceOf<Change<PodClique>, GangKey>(
      handler => world.cliques.onChange(handler),
      change =>
        change.type !== 'update' || change.old.spec.replicas !== change.new.spec.replicas
          ? ofMember(change)
          : [],
      log,
    ),
    mended(world.gangs),
    ...world.optional.podGroups.map(cache => mended(cache)),
  ]
}

/** The status says that an update needs surge replicas, or does so no more. */
function isResized(change: Change<PodCliqueSet>): boolean {
  const count = (set: PodCliqueSet) => replicaCount(set as StoredSet)
  return change.type === 'update' && count(change.old) !== count(change.new)
}

/**
 * Of a set that goes or is gone nothing is made again, so thousands of pods on their way out are nobody's work. Should
 * the set only be late to arrive, it wakes all of its children itself.
 */
function isOfLivingSet(world: World, change: Change<KubeObject>): boolean {
  const { namespace, labels } = (change.new ?? change.old).metadata
  const name = labels?.[label.partOf]
  if (!namespace || !name) return true
  const set = world.sets.get({ namespace, name })
  return set !== undefined && !set.metadata.deletionTimestamp
}

/** A set is carried out when all of its gangs have their pods. */
function hasBecomeComplete(change: Change<PodGang>): boolean {
  return change.type === 'update' && isInitialized(change.new) && !isInitialized(change.old)
}

function cliquesOfGang(world: World, change: Change<PodGang>): ObjectKey[] {
  return [
    ...[change.old, change.new].flatMap(gang =>
      (gang?.spec.podgroups ?? []).map(group => `${gang?.metadata.namespace}/${group.name}` as ObjectKey),
    ),
    // Made again after somebody took it away, it is what those behind it waited for.
    ...(change.type === 'add' ? world.cliques.byIndex('basePodGang', keyOf(change.new)).map(keyOf) : []),
  ]
}

/** Scaled gangs wait for their base gang to be placed; when a clique of it is, those behind it look again. */
function scaledCliquesBehind(world: World, change: Change<PodClique>): ObjectKey[] {
  const before = change.old?.status?.scheduledReplicas ?? 0
  const after = change.new?.status?.scheduledReplicas ?? 0
  const { namespace, labels } = (change.new ?? change.old).metadata
  if (after <= before || labels?.[label.basePodGang]) return []
  return world.cliques.byIndex('basePodGang', `${namespace}/${labels?.[label.podGang]}`).map(keyOf)
}

/**
 * All children when the set itself changed; when an update moves on, those of the replicas whose turn it is.
 */
function childrenToWake(world: World, change: Change<PodCliqueSet>, kind: 'groups' | 'cliques'): ObjectKey[] {
  const children = world[kind].byIndex('set', keyOf(change.new ?? change.old))
  if (isSetWorthy(change)) return children.map(keyOf)
  // Also when those half-way are to go somewhere else from now on: until that is announced they do nothing,
  // and groups make no members.
  const announced = change.old?.status?.currentGenerationHash
  const isRedirected = announced !== change.new?.status?.currentGenerationHash
  if (isRedirected && announced !== undefined && kind === 'groups') return children.map(keyOf)
  const before = new Set(change.old && !isRedirected ? updatingReplicas(change.old as StoredSet) : [])
  const begun = (change.new ? updatingReplicas(change.new as StoredSet) : []).filter(at => !before.has(at))
  if (begun.length === 0) return []
  const indexes = new Set(begun.map(String))
  return children
    .filter(child => indexes.has(child.metadata.labels?.[label.setReplicaIndex] ?? ''))
    .map(keyOf)
}

interface Observable<T extends KubeObject> {
  onChange(handler: (change: Change<T>) => void): () => void
}

function from<T extends KubeObject>(
  cache: Observable<T>,
  log: Logger,
  map: (change: Change<T>) => Iterable<KeyRequest<ObjectKey>>,
) {
  return sourceOf<Change<T>, ObjectKey>(handler => cache.onChange(handler), map, log)
}

function uidOf(object: KubeObject | undefined): string {
  return object?.metadata?.uid ?? ''
}
