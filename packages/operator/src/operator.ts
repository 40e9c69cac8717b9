// SPDX-License-Identifier: Apache-2.0

// The controllers of the operator and their event sources.
import { label, type OperatorConfiguration } from '@grove/api'
import {
  Controller,
  cacheMetrics,
  type KubeObject,
  type Logger,
  type ObjectRef,
  type Registry,
  type Stoppable,
  type Stored,
  silentLogger,
} from '@grove/kube'
import type { Caches } from './caches/caches.ts'
import { groupReplicaOf, setReplicaOf } from './layout/clique-instance.ts'
import { type GangKey, gangKeyOfMember, parseGangKey } from './layout/gang-key.ts'
import {
  type CliqueKey,
  cliqueKey,
  type GroupKey,
  groupKey,
  refOf,
  type SetKey,
  setKey,
} from './layout/object-key.ts'
import type { StoredScalingGroup } from './layout/stored.ts'
import { TerminatingNamespaces } from './memory/terminating-namespaces.ts'
import { decisionSink, loggedEvents } from './metrics/decisions.ts'
import { gangIdentity } from './metrics/identity.ts'
import { observeCaches, reconcileErrors } from './metrics/observers.ts'
import type { OperatorContext } from './operator-context.ts'
import { owningSet } from './ownership/owner-lookup.ts'
import { reconcileClique } from './podclique/reconcile.ts'
import { SetReconciler } from './podcliqueset/reconcile.ts'
import { TokenSecrets } from './podcliqueset/token-secret.ts'
import { GangReconciler } from './podgang/reconcile.ts'
import { reconcileScalingGroup } from './scaling-group/reconcile.ts'
import { reconcileTopologyBinding } from './topology-binding/reconcile.ts'
import { bindingSources, cliqueSources, gangSources, groupSources, setSources } from './triggers/sources.ts'

/**
 * Reconciles mostly wait for their writes, and the client limits the number of parallel requests. With fewer workers a
 * thousand cliques would wait for each other's responses.
 */
const fewestWorkers = 32

interface ReadableCache {
  readonly resource: { readonly kind: string }
  get(ref: ObjectRef): Stored | undefined
}

export interface OperatorOptions {
  readonly context: OperatorContext
  readonly log?: Logger
  readonly registry?: Registry
}

export class Operator {
  readonly #context: OperatorContext
  readonly #log: Logger
  readonly #registry: Registry | undefined
  readonly #namespaces: TerminatingNamespaces
  readonly #tokens: TokenSecrets
  readonly #controllers: readonly Stoppable[]
  readonly #sets: Controller<SetKey>
  readonly #groups: Controller<GroupKey>
  readonly #cliques: Controller<CliqueKey>
  readonly #gangs: Controller<GangKey>
  readonly #observe: () => () => void
  #endObservation = () => {}

  constructor({ context: given, log = silentLogger, registry }: OperatorOptions) {
    const decisionLog = log.child({ area: 'decisions' })
    const context: OperatorContext = {
      ...given,
      events: loggedEvents(given.events, decisionLog),
      decisions: decisionSink(decisionLog, registry),
    }
    const { caches, clock, memory } = context
    this.#context = context
    this.#log = log
    this.#registry = registry
    this.#namespaces = new TerminatingNamespaces(memory.terminatingNamespaces)
    this.#tokens = new TokenSecrets(context, {
      set: (key, afterMs) => this.#sets.queue.addNoLaterThanAfter(key, afterMs),
      clique: key => this.#cliques.queue.add(key),
    })
    this.#gangs = this.#gangController()
    this.#sets = this.#setController()
    this.#groups = this.#groupController()
    this.#cliques = this.#cliqueController()
    this.#controllers = [this.#sets, this.#groups, this.#cliques, this.#gangs, this.#bindingController()]
    if (registry) cacheMetrics(registry, caches.observed)
    this.#observe = () => observeCaches(caches, clock, decisionLog, registry)
    memory.removals.onEnd((set, replicas) => this.#enqueueReplicas(caches, setKey(set.metadata), replicas))
    memory.groupRemovals.onEnd((group, replicas) => this.#enqueueMembers(caches, group, replicas))
  }

  #setController(): Controller<SetKey> {
    const { caches } = this.#context
    const sets = new SetReconciler({
      context: this.#context,
      tokens: this.#tokens,
      enqueueGang: gang => this.#gangs.queue.add(gang),
    })
    return new Controller<SetKey>({
      ...this.#common('podcliqueset'),
      workers: this.#workersOf('podCliqueSet'),
      identify: identityIn(caches.sets),
      reconcile: this.#namespaces.guarded(
        (key, run) => sets.reconcile(key, run),
        key => ({ set: caches.sets.get(refOf(key)) }),
      ),
      sources: setSources(caches, this.#log, () => this.#sets.queue),
    })
  }

  #groupController(): Controller<GroupKey> {
    const { caches } = this.#context
    return new Controller<GroupKey>({
      ...this.#common('podcliquescalinggroup'),
      workers: this.#workersOf('podCliqueScalingGroup'),
      identify: identityIn(caches.groups),
      ownerOf: key => setKeyOf(caches.groups.get(refOf(key)), key),
      reconcile: this.#namespaces.guarded(
        (key, run) => reconcileScalingGroup(key, run, this.#context),
        key => withOwningSet(caches, caches.groups.get(refOf(key))),
      ),
      sources: groupSources(caches, this.#log, () => this.#groups.queue),
    })
  }

  #cliqueController(): Controller<CliqueKey> {
    const { caches } = this.#context
    return new Controller<CliqueKey>({
      ...this.#common('podclique'),
      workers: this.#workersOf('podClique'),
      identify: identityIn(caches.cliques),
      ownerOf: key => setKeyOf(caches.cliques.get(refOf(key)), key),
      reconcile: this.#namespaces.guarded(
        (key, run) => reconcileClique(key, run, this.#context, this.#tokens),
        key => withOwningSet(caches, caches.cliques.get(refOf(key))),
      ),
      sources: cliqueSources(caches, this.#log, () => this.#cliques.queue),
    })
  }

  #gangController(): Controller<GangKey> {
    const { caches, backends } = this.#context
    const gangs = new GangReconciler(this.#context, set => this.#sets.queue.add(set))
    const setOf = (key: GangKey) => {
      const { namespace, set: name } = parseGangKey(key)
      return { namespace, name }
    }
    return new Controller<GangKey>({
      ...this.#common('podgang'),
      workers: this.#workersOf('podGang'),
      identify: key => gangIdentity(key, caches),
      ownerOf: key => setKey(setOf(key)),
      reconcile: this.#namespaces.guarded(
        (key, run) => gangs.reconcile(key, run),
        key => ({ set: caches.sets.get(setOf(key)) }),
      ),
      sources: gangSources(caches, this.#log, backends, () => this.#gangs.queue),
    })
  }

  #bindingController(): Controller<string> {
    const { caches } = this.#context
    return new Controller<string>({
      ...this.#common('clustertopology'),
      workers: 1,
      identify: name => ({
        kind: caches.topologyBindings.resource.kind,
        name,
        uid: caches.topologyBindings.get({ name })?.metadata.uid,
      }),
      reconcile: (name, run) => reconcileTopologyBinding(name, run, this.#context),
      sources: bindingSources(caches, this.#log),
    })
  }

  #common(name: string) {
    const registry = this.#registry
    return {
      name,
      clock: this.#context.clock,
      log: this.#log,
      ...(registry && { registry, onFailure: reconcileErrors(registry, name) }),
    }
  }

  #workersOf(name: keyof OperatorConfiguration['controllers']): number {
    return Math.max(fewestWorkers, this.#context.configuration.controllers[name].concurrentSyncs)
  }

  /** Starts the controllers. The caches must have synced. */
  async start(signal: AbortSignal): Promise<void> {
    this.#endObservation = this.#observe()
    await Promise.all(this.#controllers.map(controller => controller.start(signal)))
  }

  async stop(): Promise<void> {
    await Promise.all(this.#controllers.map(controller => controller.stop()))
    this.#endObservation()
  }

  /** Enqueues the objects of a removed replica: cliques, groups and gangs create nothing during the removal. */
  #enqueueReplicas(caches: Caches, set: SetKey, replicas: ReadonlySet<number>): void {
    const isOfReplica = (object: KubeObject) => replicas.has(setReplicaOf(object) ?? -1)
    for (const group of caches.groups.byIndex('set', set))
      if (isOfReplica(group)) this.#groups.queue.add(groupKey(group.metadata))
    for (const clique of caches.cliques.byIndex('set', set))
      if (isOfReplica(clique)) {
        this.#cliques.queue.add(cliqueKey(clique.metadata))
        const gang = gangKeyOfMember(clique)
        if (gang) this.#gangs.queue.add(gang)
      }
  }

  /** Enqueues the cliques of a removed group replica, which create no pods during the removal. */
  #enqueueMembers(caches: Caches, group: StoredScalingGroup, replicas: ReadonlySet<number>): void {
    for (const clique of caches.cliques.byIndex('controller', group.metadata.uid))
      if (replicas.has(groupReplicaOf(clique) ?? -1)) this.#cliques.queue.add(cliqueKey(clique.metadata))
  }
}

function withOwningSet(caches: Caches, object: KubeObject | undefined) {
  return { set: object && owningSet(caches, object), object }
}

function identityIn(cache: ReadableCache) {
  return (key: SetKey | GroupKey | CliqueKey) => {
    const ref = refOf(key)
    return { kind: cache.resource.kind, ...ref, uid: cache.get(ref)?.metadata.uid }
  }
}

/** The key of the set that an object belongs to; without the label, the key of the object itself. */
function setKeyOf(object: KubeObject | undefined, key: string): string {
  return setKey({
    namespace: object?.metadata?.namespace,
    name: object?.metadata?.labels?.[label.partOf] ?? key,
  })
}
