// SPDX-License-Identifier: Apache-2.0

// The controllers of the operator and their event sources.
import { label } from '@grove/api'
import {
  Controller,
  cacheMetrics,
  type KubeObject,
  type Logger,
  type ObjectRef,
  type Registry,
  type Stored,
  silentLogger,
} from '@grove/kube'
import type { Caches } from './caches/caches.ts'
import { numberLabel } from './layout/clique-instance.ts'
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
import { TerminatingNamespaces } from './memory/terminating-namespaces.ts'
import { decisionSink, loggedEvents } from './metrics/decisions.ts'
import { gangIdentity } from './metrics/identity.ts'
import { observeCaches, reconcileErrors } from './metrics/observe.ts'
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
  readonly controllers: readonly Controller<never>[]
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
    const { clock, configuration, caches, memory } = context
    if (registry) cacheMetrics(registry, caches.observed)
    this.#observe = () => observeCaches(caches, clock, decisionLog, registry)
    memory.removals.onEnd((set, replicas) => this.#enqueueReplicas(caches, setKey(set.metadata), replicas))
    const common = (name: string) => ({
      name,
      clock,
      log,
      ...(registry && { registry, onFailure: reconcileErrors(registry, name) }),
    })
    const identityIn = (cache: ReadableCache) => (key: SetKey | GroupKey | CliqueKey) => {
      const ref = refOf(key)
      return { kind: cache.resource.kind, ...ref, uid: cache.get(ref)?.metadata.uid }
    }
    const workersOf = (name: keyof typeof configuration.controllers) =>
      Math.max(fewestWorkers, configuration.controllers[name].concurrentSyncs)
    const namespaces = new TerminatingNamespaces(memory.terminatingNamespaces)
    const setOf = (object: KubeObject | undefined) => object && owningSet(caches, object)
    const gangs = new GangReconciler(context, set => this.#sets.queue.add(set))
    this.#gangs = new Controller<GangKey>({
      ...common('podgang'),
      workers: workersOf('podGang'),
      identify: key => gangIdentity(key, caches),
      ownerOf: key => {
        const { namespace, set } = parseGangKey(key)
        return setKey({ namespace, name: set })
      },
      reconcile: namespaces.guarded(
        (key, run) => gangs.reconcile(key, run),
        key => {
          const { namespace, set: name } = parseGangKey(key)
          return { set: caches.sets.get({ namespace, name }) }
        },
      ),
      sources: gangSources(caches, log, context.backends, () => this.#gangs.queue),
    })
    const tokens = new TokenSecrets(context, {
      set: (key, afterMs) => this.#sets.queue.addNoLaterThanAfter(key, afterMs),
      clique: key => this.#cliques.queue.add(key),
    })
    const sets = new SetReconciler({
      context,
      tokens,
      enqueueGang: gang => this.#gangs.queue.add(gang),
    })
    this.#sets = new Controller<SetKey>({
      ...common('podcliqueset'),
      workers: workersOf('podCliqueSet'),
      identify: identityIn(caches.sets),
      reconcile: namespaces.guarded(
        (key, run) => sets.reconcile(key, run),
        key => ({ set: caches.sets.get(refOf(key)) }),
      ),
      sources: setSources(caches, log, () => this.#sets.queue),
    })
    this.#groups = new Controller<GroupKey>({
      ...common('podcliquescalinggroup'),
      workers: workersOf('podCliqueScalingGroup'),
      identify: identityIn(caches.groups),
      ownerOf: key => this.#setOf(caches.groups.get(refOf(key)), key),
      reconcile: namespaces.guarded(
        (key, run) => reconcileScalingGroup(key, run, context),
        key => {
          const object = caches.groups.get(refOf(key))
          return { set: setOf(object), object }
        },
      ),
      sources: groupSources(caches, log, () => this.#groups.queue),
    })
    this.#cliques = new Controller<CliqueKey>({
      ...common('podclique'),
      workers: workersOf('podClique'),
      identify: identityIn(caches.cliques),
      ownerOf: key => this.#setOf(caches.cliques.get(refOf(key)), key),
      reconcile: namespaces.guarded(
        (key, run) => reconcileClique(key, run, context, tokens),
        key => {
          const object = caches.cliques.get(refOf(key))
          return { set: setOf(object), object }
        },
      ),
      sources: cliqueSources(caches, log, () => this.#cliques.queue),
    })
    const bindings = new Controller<string>({
      ...common('clustertopology'),
      workers: 1,
      identify: name => ({
        kind: caches.topologyBindings.resource.kind,
        name,
        uid: caches.topologyBindings.get({ name })?.metadata.uid,
      }),
      reconcile: (name, run) => reconcileTopologyBinding(name, run, context),
      sources: bindingSources(caches, log),
    })
    this.controllers = [
      this.#sets,
      this.#groups,
      this.#cliques,
      this.#gangs,
      bindings,
    ] as unknown as Controller<never>[]
  }

  /** Starts the controllers. The caches must have synced. */
  async start(signal: AbortSignal): Promise<void> {
    this.#endObservation = this.#observe()
    await Promise.all(this.controllers.map(controller => controller.start(signal)))
  }

  async stop(): Promise<void> {
    await Promise.all(this.controllers.map(controller => controller.stop()))
    this.#endObservation()
  }

  /** Enqueues the objects of a removed replica: cliques, groups and gangs create nothing during the removal. */
  #enqueueReplicas(caches: Caches, set: SetKey, replicas: ReadonlySet<number>): void {
    const isOfReplica = ({ metadata }: KubeObject) =>
      replicas.has(numberLabel(metadata?.labels, label.setReplicaIndex) ?? -1)
    for (const group of caches.groups.byIndex('set', set))
      if (isOfReplica(group)) this.#groups.queue.add(groupKey(group.metadata))
    for (const clique of caches.cliques.byIndex('set', set))
      if (isOfReplica(clique)) {
        this.#cliques.queue.add(cliqueKey(clique.metadata))
        const gang = gangKeyOfMember(clique)
        if (gang) this.#gangs.queue.add(gang)
      }
  }

  #setOf(object: KubeObject | undefined, key: string): string {
    return setKey({
      namespace: object?.metadata?.namespace,
      name: object?.metadata?.labels?.[label.partOf] ?? key,
    })
  }
}
