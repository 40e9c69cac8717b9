// SPDX-License-Identifier: Apache-2.0

// The event sources of each controller, and how long their keys are debounced.
import {
  type ClusterTopologyBinding,
  label,
  type ObjectMeta,
  type Pod,
  type PodClique,
  type PodCliqueSet,
  type PodGang,
} from '@grove/api'
import { kinds } from '@grove/api/constants'
import type { Change, KubeObject, Logger, Source, Stored, WorkQueue } from '@grove/kube'
import type { Caches } from '../caches/caches.ts'
import { setReplicaKey } from '../caches/replica-index.ts'
import { type GangKey, gangKeyOfMember, wantedGangKey } from '../layout/gang-key.ts'
import { type GroupReplicas, groupReplicasFromTemplate, replicaCount } from '../layout/layout.ts'
import {
  type CliqueKey,
  cliqueKey,
  type GroupKey,
  groupKey,
  keyOf,
  refOf,
  type SetKey,
  setKey,
} from '../layout/object-key.ts'
import type { InNamespace } from '../layout/stored.ts'
import { topologyName } from '../layout/topology.ts'
import type { SchedulerBackends } from '../schedulers/registry.ts'
import { isInitialized, isUpdating } from '../state/child-state.ts'
import { gangDebounceMs, updateDebounceMs } from '../timings/timings.ts'
import { updatingReplicas } from '../update/set-progress.ts'
import { changesOf, type Observable } from './cache-source.ts'
import { debounced, debounceOfClique, debounceOfParent } from './debounce.ts'
import { claimSources, domainSources } from './device-sources.ts'
import {
  changesGangStatus,
  changesGangSummary,
  changesOwner,
  changesStatus,
  cliqueNeedsReconcile,
  gangNeedsReconcile,
  isEditedOrDeleted,
  losesStatus,
  memberOfGroup,
  needsReconcile,
  needsRepair,
  ownersOfPod,
  setOfChild,
  setsOf,
} from './predicates.ts'

/** Enqueues a set for its own events, for events of its children, and for deletions and edits of them. */
export function setSources(caches: Caches, log: Logger, queue: () => WorkQueue<SetKey>) {
  const ofChildren = (source: Source<SetKey>) =>
    debounced(source, queue, key => {
      const set = caches.sets.get(refOf(key))
      return set && isUpdating(set)
        ? updateDebounceMs
        : debounceOfParent(caches.cliques.countByIndex('set', key))
    })
  return [
    changesOf(caches.sets, log, change =>
      needsReconcile(change) || isResized(change) || losesStatus(change)
        ? [setKey((change.new ?? change.old).metadata)]
        : [],
    ),
    ofChildren(changesOf(caches.cliques, log, setOfChild)),
    ofChildren(changesOf(caches.groups, log, setOfChild)),
    ...[caches.services, caches.serviceAccounts, caches.roles, caches.roleBindings, caches.autoscalers].map(
      cache =>
        changesOf<KubeObject, SetKey>(cache, log, change =>
          isEditedOrDeleted(change) ? setsOf(change) : [],
        ),
    ),
    ...(caches.controllerRevisions
      ? [
          changesOf(caches.controllerRevisions, log, change =>
            change.type === 'delete' ? setsOf(change) : [],
          ),
        ]
      : []),
    // The gang controller reverts edits of gangs.
    ofChildren(
      changesOf(caches.gangs, log, change =>
        change.type === 'delete' ||
        hasBecomeComplete(change) ||
        changesOwner(change) ||
        changesGangSummary(change)
          ? setsOf(change)
          : [],
      ),
    ),
    ...claimSources(caches, 'podCliqueSet', setKey, log),
    ...domainSources(caches, log).map(ofChildren),
    changesOf(caches.topologyBindings, log, change => setsWithTopology(caches, change.new ?? change.old)),
  ]
}

export function bindingSources(caches: Caches, log: Logger) {
  return [
    changesOf(caches.topologyBindings, log, change =>
      change.type !== 'delete' && needsReconcile(change) ? [change.new.metadata.name] : [],
    ),
    // Edited topologies of schedulers. A topology that the operator creates has the name of its binding.
    ...(caches.optional.kaiTopologies
      ? [
          changesOf(caches.optional.kaiTopologies, log, change =>
            bindingsOf(caches, change.new ?? change.old),
          ),
        ]
      : []),
  ]
}

function bindingsOf(caches: Caches, topology: Stored<KubeObject>): string[] {
  return caches.topologyBindings
    .list()
    .filter(
      binding =>
        binding.metadata.name === topology.metadata.name ||
        (binding.spec.schedulerTopologyBindings ?? []).some(
          entry => entry.topologyReference === topology.metadata.name,
        ),
    )
    .map(binding => binding.metadata.name)
}

function setsWithTopology(caches: Caches, binding: ClusterTopologyBinding): SetKey[] {
  return caches.sets
    .list()
    .filter(set => topologyName(set) === binding.metadata.name)
    .map(({ metadata }) => setKey(metadata))
}

export function groupSources(caches: Caches, log: Logger, queue: () => WorkQueue<GroupKey>) {
  return [
    changesOf(caches.groups, log, change =>
      change.type === 'delete' ? [] : [groupKey(change.new.metadata)],
    ),
    debounced(changesOf(caches.cliques, log, memberOfGroup), queue, key =>
      debounceOfParent(caches.cliques.countByIndex('controller', uidOf(caches.groups.get(refOf(key))))),
    ),
    changesOf(caches.sets, log, change => childrenToEnqueue(caches, change, 'groups').map(groupKey)),
    ...claimSources(caches, 'podCliqueScalingGroup', groupKey, log),
  ]
}

export function cliqueSources(caches: Caches, log: Logger, queue: () => WorkQueue<CliqueKey>) {
  return [
    // New cliques have priority: existing pods can be scheduled while further pods are created, but not vice versa.
    changesOf(caches.cliques, log, change => [
      ...(change.type === 'add' ? [{ key: cliqueKey(change.new.metadata), priority: 'user' as const }] : []),
      ...(change.type === 'update' && cliqueNeedsReconcile(change) ? [cliqueKey(change.new.metadata)] : []),
      ...scaledCliquesBehind(caches, change),
    ]),
    debounced(
      changesOf(caches.pods, log, change => (isOfActiveSet(caches, change) ? ownersOfPod(change) : [])),
      queue,
      key => debounceOfClique(caches.pods.countByIndex('controller', uidOf(caches.cliques.get(refOf(key))))),
    ),
    changesOf(caches.gangs, log, change =>
      isOfActiveSet(caches, change) ? cliquesOfGang(caches, change) : [],
    ),
    changesOf(caches.sets, log, change => childrenToEnqueue(caches, change, 'cliques').map(cliqueKey)),
    ...claimSources(caches, 'podClique', cliqueKey, log),
  ]
}

export function gangSources(
  caches: Caches,
  log: Logger,
  backends: Pick<SchedulerBackends, 'find'>,
  queue: () => WorkQueue<GangKey>,
) {
  // Edits of a gang, or of the object that its scheduler reads, are reverted.
  const repaired = <T extends KubeObject>(cache: Observable<T>) =>
    changesOf(cache, log, change => (needsRepair(change) ? gangsToRepair(caches, change) : []))
  const isWrittenByScheduler = ({ metadata: { namespace = '', labels } }: Stored<Pod>) => {
    const gang = caches.gangs.get({ namespace, name: labels?.[label.podGang] ?? '' })
    return backends.find(gang?.metadata.labels?.[label.schedulerName])?.writesGangStatus === true
  }
  const ofStatuses = (source: Source<GangKey>) => debounced(source, queue, () => gangDebounceMs)
  const ofMember = (change: Change<KubeObject>): GangKey[] => {
    const key = gangKeyOfMember(change.new ?? change.old)
    return key ? [key] : []
  }
  return [
    changesOf(caches.pods, log, change =>
      gangNeedsReconcile(change) && isOfActiveSet(caches, change) ? ofMember(change) : [],
    ),
    ofStatuses(
      changesOf(caches.pods, log, change =>
        changesGangStatus(change) && !isWrittenByScheduler(change.new ?? change.old) ? ofMember(change) : [],
      ),
    ),
    changesOf(caches.cliques, log, change =>
      change.type !== 'update' || change.old.spec.replicas !== change.new.spec.replicas
        ? ofMember(change)
        : [],
    ),
    repaired(caches.gangs),
    ...caches.optional.schedulerObjects.flatMap(cache => [
      repaired(cache),
      ofStatuses(
        changesOf(cache, log, change => (changesStatus(change) ? gangsToRepair(caches, change) : [])),
      ),
    ]),
  ]
}

/**
 * The gang to reconcile because it or its scheduler's object was edited. Both have one name, or the gang owns the
 * object. Writes of the operator count, too: the response to such a write may be the first to show an edit of another
 * client.
 */
function gangsToRepair(caches: Caches, change: Change<KubeObject>): GangKey[] {
  const { namespace = '', name: ownName, ownerReferences } = (change.new ?? change.old).metadata
  const owner = ownerReferences?.find(({ controller }) => controller)
  const name = owner?.kind === kinds.podGang.kind ? owner.name : ownName
  const labelled = setsOf(change).flatMap(key => caches.sets.get(refOf(key)) ?? [])
  // An object of another owner may have the name of a gang, and may have no labels.
  const sets = labelled.length > 0 ? labelled : caches.sets.list(namespace)
  const replicasOf: GroupReplicas = group =>
    caches.groups.get({ namespace, name: group.name })?.spec.replicas ?? groupReplicasFromTemplate(group)
  return sets.flatMap(set => wantedGangKey(set, name, replicasOf) ?? [])
}

/** The status reports that an update needs surge replicas, or no longer needs them. */
function isResized(change: Change<InNamespace<PodCliqueSet>>): boolean {
  return change.type === 'update' && replicaCount(change.old) !== replicaCount(change.new)
}

/**
 * The operator recreates no pods of a terminating or deleted set, so its thousands of terminating pods enqueue
 * nothing. A set that arrives late enqueues all of its children itself.
 */
function isOfActiveSet(caches: Caches, change: Change<KubeObject>): boolean {
  const { namespace, labels } = (change.new ?? change.old).metadata
  const name = labels?.[label.partOf]
  if (!namespace || !name) return true
  const set = caches.sets.get({ namespace, name })
  return set !== undefined && !set.metadata.deletionTimestamp
}

/** A set is fully applied when all of its gangs have their pods. */
function hasBecomeComplete(change: Change<PodGang>): boolean {
  return change.type === 'update' && isInitialized(change.new) && !isInitialized(change.old)
}

function cliquesOfGang(caches: Caches, change: Change<PodGang>): CliqueKey[] {
  return [
    ...[change.old, change.new].flatMap(gang =>
      (gang?.spec.podgroups ?? []).map(({ name }) =>
        cliqueKey({ namespace: gang?.metadata.namespace, name }),
      ),
    ),
    // The scaled gangs waited for the recreated base gang.
    ...(change.type === 'add'
      ? caches.cliques.byIndex('basePodGang', keyOf(change.new)).map(keyOfClique)
      : []),
  ]
}

/**
 * Scaled gangs wait until their base gang is scheduled. A scheduled clique of it enqueues the cliques of the scaled
 * gangs.
 */
function scaledCliquesBehind(caches: Caches, change: Change<PodClique>): CliqueKey[] {
  const before = change.old?.status?.scheduledReplicas ?? 0
  const after = change.new?.status?.scheduledReplicas ?? 0
  const { namespace, labels } = (change.new ?? change.old).metadata
  if (after <= before || labels?.[label.basePodGang]) return []
  return caches.cliques.byIndex('basePodGang', `${namespace}/${labels?.[label.podGang]}`).map(keyOfClique)
}

/** All children if the set itself has changed. If an update advances, the children of the replicas that it selects. */
function childrenToEnqueue(
  caches: Caches,
  change: Change<InNamespace<PodCliqueSet>>,
  kind: 'groups' | 'cliques',
): ObjectMeta[] {
  const { namespace = '', name } = (change.new ?? change.old).metadata
  const all = () => caches[kind].byIndex('set', setKey({ namespace, name })).map(({ metadata }) => metadata)
  if (needsReconcile(change)) return all()
  // A new revision changes the target of selected replicas. Groups create no members until it is announced.
  const announced = change.old?.status?.currentGenerationHash
  const isRedirected = announced !== change.new?.status?.currentGenerationHash
  if (isRedirected && announced !== undefined && kind === 'groups') return all()
  const before = new Set(change.old && !isRedirected ? updatingReplicas(change.old) : [])
  const begun = (change.new ? updatingReplicas(change.new) : []).filter(at => !before.has(at))
  return begun.flatMap(replica =>
    caches[kind].byIndex('replica', setReplicaKey(namespace, name, replica)).map(({ metadata }) => metadata),
  )
}

function keyOfClique({ metadata }: KubeObject): CliqueKey {
  return cliqueKey(metadata ?? {})
}

function uidOf(object: KubeObject | undefined): string {
  return object?.metadata?.uid ?? ''
}
