// SPDX-License-Identifier: Apache-2.0

// Runs one scenario on a cluster that has the custom resources installed: starts the operator, sends the requests of
// users, and waits for states. The same scenarios run on the embedded cluster and on a real one.
import {
  admit,
  annotation,
  type ClusterView,
  defaultConfiguration,
  label,
  type OperatorConfiguration,
  type Pod,
  type PodClique,
  type PodCliqueScalingGroup,
  type PodCliqueSet,
  type PodGang,
} from '@grove/api'
import {
  type Client,
  isConflict,
  isNotFound,
  type KubeObject,
  type LogFields,
  type Logger,
  type Resource,
  type Stored,
} from '@grove/kube'
import { type RunningOperator, resources, startOperator } from '@grove/operator'
import { parse } from 'yaml'
import type { SkippingClock } from './skipping-clock.ts'
import { pollIntervalMs, untilUnchanged } from './unchanged.ts'

/** Every wait of a scenario ends within this time, also on a slow machine. PATIENCE_MS shortens it. */
export const patienceMs = Number(process.env.PATIENCE_MS ?? 120_000)
/**
 * The operator delays status writes that change nothing essential. It is idle when it writes nothing for longer than
 * that delay.
 */
const quietMs = 800
export const waiterImage = 'grove-initc:test'

export interface WriteCount {
  readonly verb: string
  readonly resource: string
}

const readVerbs = new Set(['get', 'list', 'watch', 'find'])

/**
 * Returns an observer of requests that records writes, of one namespace if one is given: sets of other scenarios exist
 * in the same cluster.
 */
export function writeCounter(writes: WriteCount[], namespace?: string) {
  return ({ verb, resource, path }: { verb: string; resource?: string; path: string }): void => {
    const isElsewhere =
      namespace !== undefined && path.includes('/namespaces/') && !path.includes(`/namespaces/${namespace}/`)
    if (!readVerbs.has(verb) && !isElsewhere) writes.push({ verb, resource: resource ?? '' })
  }
}

export class Harness {
  readonly client: Client
  readonly namespace: string
  /** Writes of the operator. Tests clear the list. */
  readonly writes: WriteCount[]
  /** Events of all operators of this harness, in the order of emission. */
  readonly events: { readonly about: string; readonly reason: string; readonly message: string }[] = []
  /** Errors that the operators of this harness logged about objects in the namespace. */
  readonly errors: { readonly message: string; readonly error: string }[] = []
  readonly #operatorClient: Client
  readonly #clock: SkippingClock | undefined
  #configuration: OperatorConfiguration
  #operator: RunningOperator | undefined

  constructor(options: {
    client: Client
    operatorClient: Client
    namespace: string
    writes: WriteCount[]
    configuration?: OperatorConfiguration
    /** The clock of the cluster, if the test can move it. */
    clock?: SkippingClock
  }) {
    this.client = options.client
    this.#operatorClient = options.operatorClient
    this.#clock = options.clock
    this.namespace = options.namespace
    this.writes = options.writes
    this.#configuration = options.configuration ?? defaultConfiguration()
  }

  async startOperator(): Promise<void> {
    this.#operator = await startOperator(this.#operatorClient, {
      configuration: this.#configuration,
      waiterImage,
      ...(this.#clock && { clock: this.#clock }),
      log: errorLog(({ object, error, ...rest }, message) => {
        if (String(object ?? '').startsWith(`${this.namespace}/`))
          this.errors.push({
            message: `${message} (${object}, ${JSON.stringify(rest)})`,
            error: String(error),
          })
      }),
      events: {
        emit: ({ metadata }, _source, { reason, message }) =>
          void (
            metadata?.namespace === this.namespace &&
            this.events.push({ about: metadata.name ?? '', reason, message })
          ),
      },
    })
  }

  async stopOperator(): Promise<void> {
    await this.#operator?.stop()
    this.#operator = undefined
  }

  /** Replaces the operator by one with empty caches. */
  async restartOperator(configuration = this.#configuration): Promise<void> {
    await this.stopOperator()
    this.#configuration = configuration
    await this.startOperator()
  }

  async abandonOperator(): Promise<void> {
    await this.#operator?.abandon()
    this.#operator = undefined
  }

  /** Creates a PodCliqueSet after admission has defaulted and validated it. */
  async apply(manifest: string): Promise<Stored<PodCliqueSet>> {
    const given = parse(manifest) as { metadata: { namespace?: string } }
    given.metadata.namespace = this.namespace
    const response = admit(
      { operation: 'CREATE', kind: 'PodCliqueSet', object: given },
      { configuration: this.#configuration, cluster: await this.#admissionView() },
    )
    if (!response.allowed) throw new Error(response.message)
    return this.client.create(resources.podCliqueSets, response.object as PodCliqueSet)
  }

  /** Updates a PodCliqueSet through admission. Throws if admission rejects the update. */
  async edit(name: string, change: (set: Stored<PodCliqueSet>) => void): Promise<void> {
    for (;;) {
      const oldObject = await this.client.get(resources.podCliqueSets, this.#ref(name))
      const object = structuredClone(oldObject)
      change(object)
      const response = admit(
        { operation: 'UPDATE', kind: 'PodCliqueSet', object, oldObject },
        { configuration: this.#configuration, cluster: await this.#admissionView() },
      )
      if (!response.allowed) throw new Error(response.message)
      try {
        await this.client.update(resources.podCliqueSets, response.object as Stored<PodCliqueSet>)
        return
      } catch (error) {
        if (!isConflict(error)) throw error
      }
    }
  }

  async patchSet(name: string, patch: object): Promise<void> {
    await this.client.patch(resources.podCliqueSets, this.#ref(name), { merge: patch })
  }

  async scale(resource: Resource<KubeObject>, name: string, replicas: number) {
    await this.client.patch(
      resource,
      this.#ref(name),
      { merge: { spec: { replicas } } },
      { subresource: 'scale' },
    )
  }

  set(name: string): Promise<Stored<PodCliqueSet> | undefined> {
    return this.client.find(resources.podCliqueSets, this.#ref(name))
  }

  async pods(set: string): Promise<Stored<Pod>[]> {
    return this.#listed(resources.pods, set)
  }

  async cliques(set: string): Promise<Stored<PodClique>[]> {
    return this.#listed(resources.podCliques, set)
  }

  async groups(set: string): Promise<Stored<PodCliqueScalingGroup>[]> {
    return this.#listed(resources.podCliqueScalingGroups, set)
  }

  async gangs(set: string): Promise<Stored<PodGang>[]> {
    return this.#listed(resources.podGangs, set)
  }

  async list<T extends KubeObject>(resource: Resource<T>, set: string): Promise<Stored<T>[]> {
    return this.#listed(resource, set)
  }

  async deletePod(name: string): Promise<void> {
    await this.client.delete(resources.pods, this.#ref(name))
  }

  async deleteSet(name: string): Promise<void> {
    await this.client.delete(resources.podCliqueSets, this.#ref(name))
  }

  /**
   * Deletes the set if it still exists, waits until its pods are gone, and stops the operator in any case: an operator
   * that keeps running would keep the test process from ending.
   */
  async cleanUp(name: string): Promise<void> {
    try {
      await this.deleteSet(name).catch(error => {
        if (!isNotFound(error)) throw error
      })
      await this.until(
        'no pod left',
        () => this.pods(name),
        left => left.length === 0,
      )
    } finally {
      await this.stopOperator()
    }
  }

  /** Polls until the condition holds. After `patienceMs` it throws an error with the last value. */
  async until<T>(what: string, look: () => Promise<T>, holds: (seen: T) => boolean): Promise<T> {
    const end = Date.now() + patienceMs
    for (;;) {
      const seen = await look()
      if (holds(seen)) return seen
      if (Date.now() > end)
        throw new Error(`${what} did not happen; last value: ${JSON.stringify(seen)?.slice(0, 2000)}`)
      await new Promise(resolve => setTimeout(resolve, pollIntervalMs))
    }
  }

  /** Waits until the set has exactly this number of pods and all of them are ready. */
  async untilReady(set: string, pods: number): Promise<Stored<Pod>[]> {
    return this.until(
      `${pods} ready pods of ${set}`,
      () => this.pods(set),
      all => all.length === pods && all.every(isReady),
    )
  }

  async untilAvailable(name: string, replicas: number): Promise<Stored<PodCliqueSet>> {
    const found = await this.until(
      `${replicas} available replicas of ${name}`,
      () => this.set(name),
      set =>
        (set?.status?.availableReplicas ?? -1) === replicas &&
        set?.status?.observedGeneration === set?.metadata.generation,
    )
    return found!
  }

  /** Lets time elapse: moves the clock of an embedded cluster, waits on a real one. */
  async elapse(ms: number): Promise<void> {
    if (this.#clock) await this.#clock.skip(ms)
    else await new Promise(resolve => setTimeout(resolve, ms))
  }

  /** Shortens the wait that follows: moves the clock of an embedded cluster, does nothing on a real one. */
  async fastForward(ms: number): Promise<void> {
    await this.#clock?.skip(ms)
  }

  /** The time of the cluster. */
  now(): number {
    return this.#clock?.now() ?? Date.now()
  }

  /** Waits until the operator stops writing. */
  async untilQuiet(): Promise<void> {
    await untilUnchanged(() => this.writes.length, quietMs, this.#clock)
  }

  /**
   * Triggers a reconcile and returns its writes, except status writes: delayed ones of an earlier reconcile may come
   * meanwhile.
   */
  async writesOfAnotherReconcile(set: string): Promise<readonly WriteCount[]> {
    await this.untilQuiet()
    this.writes.length = 0
    await this.patchSet(set, { metadata: { annotations: { [annotation.reconcileTrigger]: 'again' } } })
    await this.untilQuiet()
    return this.writes.filter(({ resource }) => !resource.endsWith('/status'))
  }

  /** The cluster state that admission reads: all topologies; every Volcano queue is open. */
  async #admissionView(): Promise<ClusterView> {
    const { items } = await this.client.list(resources.clusterTopologyBindings)
    const levels = new Map(items.map(({ metadata, spec }) => [metadata.name, spec.levels]))
    return {
      topologyDomains: name => {
        const found = levels.get(name)
        return found
          ? { outcome: 'found', value: found.map(({ domain }) => domain) }
          : { outcome: 'notFound' }
      },
      volcanoQueueState: () => ({ outcome: 'found', value: 'Open' }),
    }
  }

  #ref(name: string) {
    return { name, namespace: this.namespace }
  }

  async #listed<T extends KubeObject>(resource: Resource<T>, set: string): Promise<Stored<T>[]> {
    const { items } = await this.client.list(resource, {
      namespace: this.namespace,
      labelSelector: `${label.partOf}=${set}`,
    })
    return items
  }
}

function errorLog(record: (fields: LogFields, message: string) => void, inherited: LogFields = {}): Logger {
  const ignored = () => undefined
  return {
    debug: ignored,
    info: ignored,
    warn: ignored,
    error: (message, fields) => record({ ...inherited, ...fields }, message),
    child: fields => errorLog(record, { ...inherited, ...fields }),
  }
}

export function isReady(pod: Pod): boolean {
  return (pod.status?.conditions ?? []).some(({ type, status }) => type === 'Ready' && status === 'True')
}
