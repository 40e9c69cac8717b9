// SPDX-License-Identifier: Apache-2.0

// The controllers of the operator and what wakes them. Every pass reads caches and writes what differs; nothing polls.
import { type ClusterTopologyBinding, label, type Pod, type PodClique, type PodCliqueSet } from '@grove/api'
import {
  type Change,
  Controller,
  type KeyRequest,
  type KubeObject,
  type Logger,
  type Registry,
  type Source,
  type Stored,
  silentLogger,
  sourceOf,
} from '@grove/kube'
import { calmly, calmOfClique, calmOfParent, calmOfUpdate } from './calm.ts'
import { isControlledBy } from './child-objects.ts'
import { claimSources, domainSources } from './device-wake-ups.ts'
import { keyOf, type ObjectKey, refOf } from './object-key.ts'
import type { OperatorContext } from './operator-context.ts'
import { reconcileClique } from './podclique/reconcile.ts'
import { SetReconciler } from './podcliqueset/reconcile.ts'
import { TokenSecrets } from './podcliqueset/token-secret.ts'
import { isUpdatingSet, updatingReplicas } from './podcliqueset/update.ts'
import { GangFailures } from './podgang/failures.ts'
import { type GangKey, gangKeyOfMember } from './podgang/key.ts'
import { GangReconciler } from './podgang/reconcile.ts'
import { reconcileScalingGroup } from './scaling-group/reconcile.ts'
import type { StoredSet } from './stored.ts'
import { topologyName } from './topology.ts'
import { reconcileTopologyBinding } from './topology-binding/reconcile.ts'
import {
  isCliqueWorthy,
  isGangWorthy,
  isMendable,
  isSetWorthy,
  memberOfGroup,
  ownerOfPod,
  setOfChild,
} from './wake-ups.ts'

export interface OperatorOptions {
  readonly context: OperatorContext
  readonly log?: Logger
  readonly registry?: Registry
}

export class Operator {
  readonly controllers: readonly Controller<never>[]
  readonly #context: OperatorContext
  readonly #sets: Controller<ObjectKey>
  readonly #groups: Controller<ObjectKey>
  readonly #cliques: Controller<ObjectKey>
  readonly #gangs: Controller<GangKey>

  constructor({ context, log = silentLogger, registry }: OperatorOptions) {
    this.#context = context
    for (const cache of [context.world.cliques, context.world.groups])
      cache.onChange(change => {
        if (change.type === 'delete') context.statusPace.forget(change.old.metadata.uid)
      })
    const { clock, configuration } = context
    const common = { clock, log, ...(registry && { registry }) }
    const workers = configuration.controllers
    const gangFailures = new GangFailures(set => this.#sets.queue.add(set))
    const gangs = new GangReconciler(context, gangFailures)
    this.#gangs = new Controller<GangKey>({
      ...common,
      name: 'podgang',
      workers: workers.podGang.concurrentSyncs,
      ownerOf: key => key.split('/').slice(0, 2).join('/'),
      reconcile: (key, pass) => gangs.reconcile(key, pass),
      sources: this.#gangSources(gangs, log),
    })
    const tokens = new TokenSecrets(context)
    const sets = new SetReconciler({
      context,
      tokens,
      enqueueGang: gang => this.#gangs.queue.add(gang),
      gangFailures: key => gangFailures.of(key),
    })
    this.#sets = new Controller<ObjectKey>({
      ...common,
      name: 'podcliqueset',
      workers: workers.podCliqueSet.concurrentSyncs,
      reconcile: (key, pass) => sets.reconcile(key, pass),
      sources: this.#setSources(log),
    })
    this.#groups = new Controller<ObjectKey>({
      ...common,
      name: 'podcliquescalinggroup',
      workers: workers.podCliqueScalingGroup.concurrentSyncs,
      ownerOf: key => this.#setOf(context.world.groups.get(refOf(key)), key),
      reconcile: (key, pass) => reconcileScalingGroup(key, pass, context),
      sources: this.#groupSources(log),
    })
    this.#cliques = new Controller<ObjectKey>({
      ...common,
      name: 'podclique',
      workers: workers.podClique.concurrentSyncs,
      ownerOf: key => this.#setOf(context.world.cliques.get(refOf(key)), key),
      reconcile: (key, pass) => reconcileClique(key, pass, context, tokens),
      sources: this.#cliqueSources(log),
    })
    const bindings = new Controller<string>({
      ...common,
      name: 'clustertopology',
      workers: 1,
      reconcile: (name, pass) => reconcileTopologyBinding(name, pass, context),
      sources: this.#bindingSources(log),
    })
    this.controllers = [
      this.#sets,
      this.#groups,
      this.#cliques,
      this.#gangs,
      bindings,
    ] as unknown as Controller<never>[]
  }

  /** Begins to work; the caches must have synced. */
  async start(signal: AbortSignal): Promise<void> {
    await Promise.all(this.controllers.map(controller => controller.start(signal)))
  }

  async stop(): Promise<void> {
    await Promise.all(this.controllers.map(controller => controller.stop()))
  }

  #setOf(object: KubeObject | undefined, key: string): string {
    return `${object?.metadata?.namespace ?? ''}/${object?.metadata?.labels?.[label.partOf] ?? key}`
  }

  #setSources(log: Logger) {
    const { world } = this.#context
    const ofChildren = (source: Source<ObjectKey>) =>
      calmly(
        source,
        () => this.#sets.queue,
        key => {
          const set = world.sets.get(refOf(key)) as StoredSet | undefined
          const children = world.cliques.countByIndex('set', key)
          return set && isUpdatingSet(set) ? calmOfUpdate(children) : calmOfParent(children)
        },
      )
    return [
      from(world.sets, log, change => (isSetWorthy(change) ? [keyOf(change.new ?? change.old)] : [])),
      ofChildren(from(world.cliques, log, setOfChild)),
      ofChildren(from(world.groups, log, setOfChild)),
      // What somebody takes away comes back.
      ...[
        world.services,
        world.serviceAccounts,
        world.roles,
        world.roleBindings,
        world.autoscalers,
        world.gangs,
        ...(world.controllerRevisions ? [world.controllerRevisions] : []),
      ].map(cache =>
        sourceOf<Change<KubeObject>, ObjectKey>(
          handler => cache.onChange(handler as never),
          change => (change.type === 'delete' ? setOfChild(change) : []),
          log,
        ),
      ),
      ...claimSources(world, 'podCliqueSet', log),
      ...domainSources(world, log).map(ofChildren),
      from(world.topologyBindings, log, change =>
        this.#setsWithTopology((change.new ?? change.old) as ClusterTopologyBinding),
      ),
    ]
  }

  #bindingSources(log: Logger) {
    const { world } = this.#context
    return [
      sourceOf<Change<ClusterTopologyBinding>, string>(
        handler => world.topologyBindings.onChange(handler),
        change => (change.type !== 'delete' && isSetWorthy(change) ? [change.new.metadata.name] : []),
        log,
      ),
      // Topologies of schedulers that somebody changed: whose they are, their owner or the bindings say.
      ...(world.kaiTopologies
        ? [
            sourceOf<Change<KubeObject>, string>(
              handler => world.kaiTopologies!.onChange(handler as never),
              change => this.#bindingsOf(change.new ?? change.old),
              log,
            ),
          ]
        : []),
    ]
  }

  #bindingsOf(topology: Stored<KubeObject>): string[] {
    return this.#context.world.topologyBindings
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

  #setsWithTopology(binding: ClusterTopologyBinding): ObjectKey[] {
    return this.#context.world.sets
      .list()
      .filter(set => topologyName(set as StoredSet) === binding.metadata.name)
      .map(keyOf)
  }

  #groupSources(log: Logger) {
    const { world } = this.#context
    return [
      from(world.groups, log, change => (change.type === 'delete' ? [] : [keyOf(change.new)])),
      calmly(
        from(world.cliques, log, memberOfGroup),
        () => this.#groups.queue,
        key => calmOfParent(world.cliques.countByIndex('controller', uidOf(world.groups.get(refOf(key))))),
      ),
      from(world.sets, log, change => this.#childrenToWake(change, 'groups')),
      ...claimSources(world, 'podCliqueScalingGroup', log),
    ]
  }

  #cliqueSources(log: Logger) {
    const { world } = this.#context
    return [
      // New cliques go first: pods that exist can be placed while further ones are made, but not the other way round.
      from(world.cliques, log, change => [
        ...(change.type === 'add' ? [{ key: keyOf(change.new), priority: 'user' as const }] : []),
        ...(change.type === 'update' && isCliqueWorthy(change) ? [keyOf(change.new)] : []),
        ...this.#scaledCliquesBehind(change),
      ]),
      calmly(
        from(world.pods, log, change => ownerOfPod(change.new ?? change.old)),
        () => this.#cliques.queue,
        key => calmOfClique(world.pods.countByIndex('controller', uidOf(world.cliques.get(refOf(key))))),
      ),
      from(world.gangs, log, change =>
        [change.old, change.new].flatMap(gang =>
          (gang?.spec.podgroups ?? []).map(group => `${gang?.metadata.namespace}/${group.name}` as ObjectKey),
        ),
      ),
      from(world.sets, log, change => this.#childrenToWake(change, 'cliques')),
      ...claimSources(world, 'podClique', log),
    ]
  }

  #gangSources(gangs: GangReconciler, log: Logger) {
    const { world } = this.#context
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
        change => (isGangWorthy(change) ? ofMember(change) : []),
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
      ...[...world.podGroups.values()].map(cache => mended(cache)),
    ]
  }

  /** Scaled gangs wait for their base gang to be placed; when a clique of it is, those behind it look again. */
  #scaledCliquesBehind(change: Change<PodClique>): ObjectKey[] {
    const before = change.old?.status?.scheduledReplicas ?? 0
    const after = change.new?.status?.scheduledReplicas ?? 0
    const { namespace, labels } = (change.new ?? change.old).metadata
    if (after <= before || labels?.[label.basePodGang]) return []
    return this.#context.world.cliques
      .byIndex('basePodGang', `${namespace}/${labels?.[label.podGang]}`)
      .map(keyOf)
  }

  /** All children when the set itself changed; when an update moves on, those of the replicas whose turn it is. */
  #childrenToWake(change: Change<PodCliqueSet>, kind: 'groups' | 'cliques'): ObjectKey[] {
    const children = this.#context.world[kind].byIndex('set', keyOf(change.new ?? change.old))
    if (isSetWorthy(change)) return children.map(keyOf)
    // Also when those half-way are to go somewhere else from now on: until that is announced they do nothing.
    const isRedirected =
      change.old?.status?.currentGenerationHash !== change.new?.status?.currentGenerationHash
    const before = new Set(change.old && !isRedirected ? updatingReplicas(change.old as StoredSet) : [])
    const begun = (change.new ? updatingReplicas(change.new as StoredSet) : []).filter(at => !before.has(at))
    if (begun.length === 0) return []
    const indexes = new Set(begun.map(String))
    return children
      .filter(child => indexes.has(child.metadata.labels?.[label.setReplicaIndex] ?? ''))
      .map(keyOf)
  }
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
