// SPDX-License-Identifier: Apache-2.0

// Runs the real reconcilers of one set on a simulated API. Reconciles run in any order, other clients write between any
// two writes, writes fail, and the operator can crash at each write. A seed determines every run.
import {
  defaultConfiguration,
  type OperatorConfiguration,
  type PodClique,
  type PodCliqueScalingGroup,
  type PodCliqueSet,
} from '@grove/api'
import { FakeClock, type ReconcileResult, type Resource, silentLogger } from '@grove/kube'
import type { EventSink } from '../../apply/intent.ts'
import { resources } from '../../caches/resources.ts'
import type { GangKey } from '../../layout/gang-key.ts'
import { cliqueKey, keyOf, setKey } from '../../layout/object-key.ts'
import type { StoredSet } from '../../layout/stored.ts'
import { Memory } from '../../memory/memory.ts'
import type { OperatorContext } from '../../operator-context.ts'
import { reconcileClique } from '../../podclique/reconcile.ts'
import { SetReconciler } from '../../podcliqueset/reconcile.ts'
import { TokenSecrets } from '../../podcliqueset/token-secret.ts'
import { GangReconciler } from '../../podgang/reconcile.ts'
import { reconcileScalingGroup } from '../../scaling-group/reconcile.ts'
import { schedulerBackends } from '../../schedulers/registry.ts'
import { failure, SimulatedApi, type View, type Write } from './api.ts'
import { SimulatedNodes } from './nodes.ts'
import { OwnershipCheck } from './ownership.ts'
import { Random } from './random.ts'

export const setName = 'w'

/** The cluster as the operator knows it, from its caches. */
export interface Known {
  readonly api: View
  readonly clock: FakeClock
  readonly reconciling: ControllerKind
  readonly set: StoredSet
  readonly cliques: PodClique[]
  readonly groups: PodCliqueScalingGroup[]
}

/** Observes the operator and throws if it violates a rule. */
export interface Observer {
  reconcileBegins(known: Known, kind: ControllerKind): void
  /** Called before the operator changes or deletes an object, while the state that it decided by is unchanged. */
  patches(known: Known, write: Write): void
  deletes(known: Known, write: Write): void
  /** Called after every step. */
  inspects(known: Known): void
}

export type ControllerKind = 'set' | 'group' | 'clique' | 'gang'

export interface SimulationOptions {
  readonly seed: number
  readonly set: StoredSet
  readonly nodes: number
  readonly places: number
  readonly observer: Observer
  readonly configuration?: OperatorConfiguration
  readonly events?: EventSink
  /** The only enabled scheduler. Default: the default scheduler. */
  readonly scheduler?: string
  /** True if the cluster serves the optional kinds: claims, revisions, PodGroups. */
  readonly servesOptionalKinds?: boolean
  /** True if watch events arrive late. */
  readonly isLate?: boolean
  /** The actions of other clients between two writes of the operator. */
  between?(simulation: Simulation): void | Promise<void>
}

export class Simulation {
  readonly random: Random
  readonly clock = new FakeClock(Date.UTC(2030, 0, 1))
  readonly api: SimulatedApi
  readonly nodes: SimulatedNodes
  /** In percent of the writes. */
  faults = 0
  reconciling: ControllerKind = 'set'
  readonly #options: SimulationOptions
  #context!: OperatorContext
  #tokens!: TokenSecrets
  #sets!: SetReconciler
  #gangs!: GangReconciler
  readonly #gangKeys = new Set<GangKey>()
  readonly #ownership: OwnershipCheck
  readonly #arrivals: Random
  #isDead = false
  #violation: unknown

  constructor(options: SimulationOptions) {
    this.#options = options
    this.random = new Random(options.seed)
    this.#arrivals = new Random(options.seed + 1)
    this.api = new SimulatedApi(this.clock, options)
    this.#ownership = new OwnershipCheck(this.api)
    this.nodes = new SimulatedNodes(this.api, this.random, options.nodes, options.places)
    const { uid: _, ...metadata } = options.set.metadata
    this.api.put(resources.podCliqueSets, { ...options.set, metadata } as PodCliqueSet)
    this.api.hooks = { before: write => this.#before(write), after: () => this.#after() }
    this.restart()
  }

  get set(): StoredSet {
    return this.api.get(resources.podCliqueSets, setName) as StoredSet
  }

  get memory(): Memory {
    return this.#context.memory
  }

  get cliques(): PodClique[] {
    return this.api.list(resources.podCliques)
  }

  get groups(): PodCliqueScalingGroup[] {
    return this.api.list(resources.podCliqueScalingGroups)
  }

  /** The cluster as the operator knows it. */
  get known(): Known {
    const { api, clock, reconciling } = this
    const { cached } = api
    return {
      api: cached,
      clock,
      reconciling,
      set: cached.get(resources.podCliqueSets, setName) as StoredSet,
      cliques: cached.list(resources.podCliques),
      groups: cached.list(resources.podCliqueScalingGroups),
    }
  }

  /** Starts a new operator that knows only stored objects. */
  restart(): void {
    this.#isDead = false
    this.api.arriveAll()
    const { scheduler = 'default-scheduler' } = this.#options
    this.#context = {
      caches: this.api.caches,
      clock: this.clock,
      configuration: this.#options.configuration ?? defaultConfiguration(),
      backends: schedulerBackends([scheduler], scheduler),
      waiterImage: 'waiter:1',
      memory: new Memory(this.api.caches, this.clock),
      events: this.#options.events ?? { emit: () => undefined },
    }
    this.#tokens = new TokenSecrets(this.#context, { set: () => undefined, clique: () => undefined })
    this.#sets = new SetReconciler({
      context: this.#context,
      tokens: this.#tokens,
      enqueueGang: key => this.#gangKeys.add(key),
    })
    this.#gangs = new GangReconciler(this.#context, () => undefined)
  }

  /** One reconcile by one controller for one object. */
  async reconcile(kind: ControllerKind): Promise<void> {
    const key = this.random.pick(this.#keys(kind))
    if (key) await this.#run(kind, key)
  }

  /** One reconcile by every controller for every object. */
  async reconcileAll(): Promise<void> {
    for (const kind of ['set', 'group', 'clique', 'gang', 'clique', 'group', 'set'] as const)
      for (const key of this.#keys(kind)) await this.#run(kind, key)
  }

  /** Reconciles one object, by its key without the namespace. Resolves with the failure. */
  async reconcileOne(kind: ControllerKind, name: string): Promise<unknown> {
    try {
      await this.#reconcileKey(kind, `${this.set.metadata.namespace}/${name}`)
      return undefined
    } catch (error) {
      return error
    }
  }

  /** Reconciles the set once. Resolves with the time of the next reconcile that it requests. */
  resultOfSet(): Promise<ReconcileResult | undefined> {
    const run = { signal: new AbortController().signal, clock: this.clock, log: silentLogger }
    return this.#sets.reconcile(setKey(this.set.metadata), run)
  }

  /** Reconciles a clique once. Resolves with the delay of the next reconcile that it requests. */
  async requeueAfter(clique: string): Promise<number | undefined> {
    return (await this.#reconcileClique(clique))?.requeueAfter
  }

  /** Reconciles a clique once. Resolves with the time of the next reconcile that it requests. */
  async requeueAt(clique: string): Promise<number | undefined> {
    return (await this.#reconcileClique(clique))?.requeueAt
  }

  #reconcileClique(clique: string): ReturnType<typeof reconcileClique> {
    const run = { signal: new AbortController().signal, clock: this.clock, log: silentLogger }
    const key = cliqueKey({ namespace: this.set.metadata.namespace, name: clique })
    return reconcileClique(key, run, this.#context, this.#tokens)
  }

  /** Gangs that the set has asked the gang controller to write. */
  get enqueuedGangs(): readonly GangKey[] {
    return [...this.#gangKeys]
  }

  #keys(kind: ControllerKind): string[] {
    const keysOf = (resource: Resource) => this.api.list(resource).map(keyOf)
    if (kind === 'gang') return [...this.enqueuedGangs]
    if (kind === 'set') return keysOf(resources.podCliqueSets as unknown as Resource)
    if (kind === 'group') return keysOf(resources.podCliqueScalingGroups as unknown as Resource)
    return keysOf(resources.podCliques as unknown as Resource)
  }

  async #run(kind: ControllerKind, key: string): Promise<void> {
    this.reconciling = kind
    this.api.arriveSome(this.#arrivals)
    this.#options.observer.reconcileBegins(this.known, kind)
    try {
      await this.#reconcileKey(kind, key)
    } catch (error) {
      if (!this.#violation && this.faults === 0 && !this.#options.isLate && !isRace(error)) throw error
    }
    if (this.#violation) throw this.#violation
    if (this.#isDead) this.restart()
    this.#options.observer.inspects(this.known)
  }

  async #reconcileKey(kind: ControllerKind, key: string): Promise<void> {
    const run = { signal: new AbortController().signal, clock: this.clock, log: silentLogger }
    if (kind === 'set') await this.#sets.reconcile(key as never, run)
    else if (kind === 'group') await reconcileScalingGroup(key as never, run, this.#context)
    else if (kind === 'clique') await reconcileClique(key as never, run, this.#context, this.#tokens)
    else await this.#gangs.reconcile(key as never, run)
  }

  /** A reconcile catches errors, so a violation is stored to be thrown later. */
  #observe(look: () => void): void {
    try {
      look()
    } catch (error) {
      this.#violation ??= error
      throw error
    }
  }

  #die(when: string): never {
    this.#isDead = true
    throw new Error(`the operator died ${when} a write`)
  }

  async #before(write: Write): Promise<void> {
    if (this.#isDead) this.#die('long before')
    if (this.random.chance(this.faults)) {
      if (this.random.chance(30)) this.#die('before')
      throw failure(this.random.pick(['Conflict', 'Internal', 'TooManyRequests'] as const)!, write.resource)
    }
    this.#observe(() => this.#ownership.look(write))
    const { observer, between } = this.#options
    // A late cache may hold an older version. The API server then rejects a write based on it.
    const decided = { ...write, objects: this.api.asCached(write.resource, write.objects) }
    if (write.verb === 'patch') this.#observe(() => observer.patches(this.known, decided))
    if (write.verb === 'delete') this.#observe(() => observer.deletes(this.known, decided))
    await between?.(this)
    this.api.arriveSome(this.#arrivals)
  }

  #after(): void {
    this.#observe(() => this.#options.observer.inspects(this.known))
    if (this.faults && this.random.chance(this.faults / 2)) this.#die('after')
  }
}

/** A conflict with another client, which the next reconcile resolves. */
function isRace(error: unknown): boolean {
  return /Conflict|NotFound|AlreadyExists/.test(
    JSON.stringify(error, (_, value) =>
      value instanceof Error
        ? { text: value.message, cause: value.cause, errors: (value as { errors?: unknown }).errors }
        : value,
    ),
  )
}
