// SPDX-License-Identifier: Apache-2.0

// The controllers of the operator and what wakes them. Every pass reads caches and writes what differs; nothing polls.
import { label } from '@grove/api'
import { Controller, type KubeObject, type Logger, type Registry, silentLogger } from '@grove/kube'
import { numberLabel } from './clique-instance.ts'
import { keyOf, type ObjectKey, refOf } from './object-key.ts'
import type { OperatorContext } from './operator-context.ts'
import { owningSet } from './owning-set.ts'
import { reconcileClique } from './podclique/reconcile.ts'
import { SetReconciler } from './podcliqueset/reconcile.ts'
import { TokenSecrets } from './podcliqueset/token-secret.ts'
import { GangFailures } from './podgang/failures.ts'
import { type GangKey, gangKeyOfMember, parseGangKey } from './podgang/key.ts'
import { GangReconciler } from './podgang/reconcile.ts'
import { reconcileScalingGroup } from './scaling-group/reconcile.ts'
import { bindingSources, cliqueSources, gangSources, groupSources, setSources } from './sources.ts'
import type { StoredSet } from './stored.ts'
import { TerminatingNamespaces } from './terminating-namespaces.ts'
import { reconcileTopologyBinding } from './topology-binding/reconcile.ts'
import type { World } from './world.ts'

/**
 * Passes do little but wait for their writes, and how many of these are under way the client bounds. With fewer workers
 * than this a thousand cliques would wait for each other's answers.
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
    const { clock, configuration, world, statusDebounce } = context
    for (const cache of [world.cliques, world.groups, world.gangs])
      cache.onChange(change => {
        if (change.type === 'delete') statusDebounce.clear(change.old.metadata.uid)
      })
    world.sets.onChange(change => {
      if (change.type === 'delete') context.backends.forget(change.old.metadata.uid)
    })
    context.removals.onEnd((set, replicas) => this.#enqueueReplicas(world, set, replicas))
    const common = { clock, log, ...(registry && { registry }) }
    const workersOf = (name: keyof typeof configuration.controllers) =>
      Math.max(fewestWorkers, configuration.controllers[name].concurrentSyncs)
    const namespaces = new TerminatingNamespaces(world)
    const setOf = (object: KubeObject | undefined) => object && owningSet(world, object)
    const gangFailures = new GangFailures(set => this.#sets.queue.add(set))
    const gangs = new GangReconciler(context, gangFailures)
    this.#gangs = new Controller<GangKey>({
      ...common,
      name: 'podgang',
      workers: workersOf('podGang'),
      ownerOf: key => key.split('/').slice(0, 2).join('/'),
      reconcile: namespaces.guarded(
        (key, pass) => gangs.reconcile(key, pass),
        key => {
          const { namespace, set: name } = parseGangKey(key)
          return { set: world.sets.get({ namespace, name }) as StoredSet | undefined }
        },
      ),
      sources: gangSources(world, log, gangs),
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
        (key, pass) => sets.reconcile(key, pass),
        key => ({ set: world.sets.get(refOf(key)) as StoredSet | undefined }),
      ),
      sources: setSources(world, log, () => this.#sets.queue),
    })
    this.#groups = new Controller<ObjectKey>({
      ...common,
      name: 'podcliquescalinggroup',
      workers: workersOf('podCliqueScalingGroup'),
      ownerOf: key => this.#setOf(world.groups.get(refOf(key)), key),
      reconcile: namespaces.guarded(
        (key, pass) => reconcileScalingGroup(key, pass, context),
        key => {
          const object = world.groups.get(refOf(key))
          return { set: setOf(object), object }
        },
      ),
      sources: groupSources(world, log, () => this.#groups.queue),
    })
    this.#cliques = new Controller<ObjectKey>({
      ...common,
      name: 'podclique',
      workers: workersOf('podClique'),
      ownerOf: key => this.#setOf(world.cliques.get(refOf(key)), key),
      reconcile: namespaces.guarded(
        (key, pass) => reconcileClique(key, pass, context, tokens),
        key => {
          const object = world.cliques.get(refOf(key))
          return { set: setOf(object), object }
        },
      ),
      sources: cliqueSources(world, log, () => this.#cliques.queue),
    })
    const bindings = new Controller<string>({
      ...common,
      name: 'clustertopology',
      workers: 1,
      reconcile: (name, pass) => reconcileTopologyBinding(name, pass, context),
      sources: bindingSources(world, log),
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
  #enqueueReplicas(world: World, set: ObjectKey, replicas: ReadonlySet<number>): void {
    const isOfReplica = ({ metadata }: KubeObject) =>
      replicas.has(numberLabel(metadata?.labels, label.setReplicaIndex) ?? -1)
    for (const group of world.groups.byIndex('set', set))
      if (isOfReplica(group)) this.#groups.queue.add(keyOf(group))
    for (const clique of world.cliques.byIndex('set', set))
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
