// SPDX-License-Identifier: Apache-2.0

// The controllers of the operator and their event sources.
import { label } from '@grove/api'
import { Controller, type KubeObject, type Logger, type Registry, silentLogger } from '@grove/kube'
import type { Caches } from './caches/caches.ts'
import { TerminatingNamespaces } from './caches/terminating-namespaces.ts'
import { numberLabel } from './layout/clique-instance.ts'
import { type GangKey, gangKeyOfMember, parseGangKey } from './layout/gang-key.ts'
import { keyOf, type ObjectKey, refOf } from './layout/object-key.ts'
import type { OperatorContext } from './operator-context.ts'
import { owningSet } from './ownership/owner-lookup.ts'
import { reconcileClique } from './podclique/reconcile.ts'
import { SetReconciler } from './podcliqueset/reconcile.ts'
import { TokenSecrets } from './podcliqueset/token-secret.ts'
import { GangFailures } from './podgang/failures.ts'
import { GangReconciler } from './podgang/reconcile.ts'
import { reconcileScalingGroup } from './scaling-group/reconcile.ts'
import { reconcileTopologyBinding } from './topology-binding/reconcile.ts'
import { bindingSources, cliqueSources, gangSources, groupSources, setSources } from './triggers/sources.ts'

/**
 * Reconciles mostly wait for their writes, and the client bounds how many of these are under way. With fewer workers
 * a thousand cliques would wait for each other's responses.
 */
const fewestWorkers = 32

export interface OperatorOptions {
  readonly context: OperatorContext
  readonly log?: Logger
  readonly registry?: Registry
}

export class Operator {
  readonly controllers: readonly Controller<never>[]
  readonly #sets: Controller<ObjectKey>
  readonly #groups: Controller<ObjectKey>
  readonly #cliques: Controller<ObjectKey>
  readonly #gangs: Controller<GangKey>

  constructor({ context, log = silentLogger, registry }: OperatorOptions) {
    const { clock, configuration, caches, statusDebounce } = context
    for (const cache of [caches.cliques, caches.groups, caches.gangs])
      cache.onChange(change => {
        if (change.type === 'delete') statusDebounce.clear(change.old.metadata.uid)
      })
    caches.sets.onChange(change => {
      if (change.type === 'delete') context.backends.forget(change.old.metadata.uid)
    })
    context.removals.onEnd((set, replicas) => this.#enqueueReplicas(caches, set, replicas))
    const common = { clock, log, ...(registry && { registry }) }
    const workersOf = (name: keyof typeof configuration.controllers) =>
      Math.max(fewestWorkers, configuration.controllers[name].concurrentSyncs)
    const namespaces = new TerminatingNamespaces(caches)
    const setOf = (object: KubeObject | undefined) => object && owningSet(caches, object)
    const gangFailures = new GangFailures(set => this.#sets.queue.add(set))
    const gangs = new GangReconciler(context, gangFailures)
    this.#gangs = new Controller<GangKey>({
      ...common,
      name: 'podgang',
      workers: workersOf('podGang'),
      ownerOf: key => {
        const { namespace, set } = parseGangKey(key)
        return `${namespace}/${set}`
      },
      reconcile: namespaces.guarded(
        (key, run) => gangs.reconcile(key, run),
        key => {
          const { namespace, set: name } = parseGangKey(key)
          return { set: caches.sets.get({ namespace, name }) }
        },
      ),
      sources: gangSources(caches, log, gangs),
    })
    const tokens = new TokenSecrets(context, {
      set: (key, afterMs) => this.#sets.queue.addNoLaterThanAfter(key, afterMs),
      clique: key => this.#cliques.queue.add(key),
    })
    const sets = new SetReconciler({
      context,
      tokens,
      enqueueGang: gang => this.#gangs.queue.add(gang),
      gangFailures: key => gangFailures.of(key),
    })
    this.#sets = new Controller<ObjectKey>({
      ...common,
      name: 'podcliqueset',
      workers: workersOf('podCliqueSet'),
      reconcile: namespaces.guarded(
        (key, run) => sets.reconcile(key, run),
        key => ({ set: caches.sets.get(refOf(key)) }),
      ),
      sources: setSources(caches, log, () => this.#sets.queue),
    })
    this.#groups = new Controller<ObjectKey>({
      ...common,
      name: 'podcliquescalinggroup',
      workers: workersOf('podCliqueScalingGroup'),
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
    this.#cliques = new Controller<ObjectKey>({
      ...common,
      name: 'podclique',
      workers: workersOf('podClique'),
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
      ...common,
      name: 'clustertopology',
      workers: 1,
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

  /** Begins to work; the caches must have synced. */
  async start(signal: AbortSignal): Promise<void> {
    await Promise.all(this.controllers.map(controller => controller.start(signal)))
  }

  async stop(): Promise<void> {
    await Promise.all(this.controllers.map(controller => controller.stop()))
  }

  /** Cliques, groups and gangs create nothing while their replica is being removed. */
  #enqueueReplicas(caches: Caches, set: ObjectKey, replicas: ReadonlySet<number>): void {
    const isOfReplica = ({ metadata }: KubeObject) =>
      replicas.has(numberLabel(metadata?.labels, label.setReplicaIndex) ?? -1)
    for (const group of caches.groups.byIndex('set', set))
      if (isOfReplica(group)) this.#groups.queue.add(keyOf(group))
    for (const clique of caches.cliques.byIndex('set', set))
      if (isOfReplica(clique)) {
        this.#cliques.queue.add(keyOf(clique))
        const gang = gangKeyOfMember(clique)
        if (gang) this.#gangs.queue.add(gang)
      }
  }

  #setOf(object: KubeObject | undefined, key: string): string {
    return `${object?.metadata?.namespace ?? ''}/${object?.metadata?.labels?.[label.partOf] ?? key}`
  }
}
