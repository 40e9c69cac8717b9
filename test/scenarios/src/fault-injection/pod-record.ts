// SPDX-License-Identifier: Apache-2.0

// Observes the pods of a namespace through a connection without faults. It records since when each pod is ready, and
// which pods the test has disrupted.
import type { Pod } from '@grove/api'
import { type Client, type Stored, WatchCache } from '@grove/kube'
import { resources } from '@grove/operator'
import { isReady } from '../harness.ts'
import { isStanding } from './deletion.ts'

/** The longest delay with which a running operator receives a watch event. */
const watchDelayMs = 1_000

export class PodRecord {
  readonly #pods: WatchCache<Pod>
  readonly #client: Client
  readonly #namespace: string
  readonly #readySince = new Map<string, number>()
  /** The last state in which each pod was running and ready, and the time at which that ended. */
  readonly #served = new Map<string, { readonly pod: Stored<Pod>; until?: number }>()
  readonly #hurt = new Map<string, Stored<Pod>>()
  readonly #lostNodes = new Set<string>()
  readonly #sleeps: { readonly ms: number; readonly end: number }[] = []
  readonly #abort = new AbortController()
  #watching: Promise<void> | undefined

  constructor(client: Client, namespace: string, onChange: (record: PodRecord) => void) {
    this.#client = client
    this.#namespace = namespace
    this.#pods = new WatchCache<Pod>(client, resources.pods, { namespace })
    this.#pods.onChange(({ new: pod, old }) => {
      if (pod) this.#note(pod)
      else if (old) this.#servedUntilNow(old.metadata.uid)
      onChange(this)
    })
  }

  async open(): Promise<void> {
    this.#watching = this.#pods.run(this.#abort.signal)
    await this.#pods.waitForSync()
  }

  async close(): Promise<void> {
    this.#abort.abort()
    await this.#watching
  }

  /** Call this before the operator is paused. */
  operatorSleeps(ms: number): void {
    this.#sleeps.push({ ms, end: Date.now() + ms })
  }

  /** The longest time for which the operator's view of the cluster can be stale, in milliseconds. */
  get staleMs(): number {
    const felt = this.#sleeps.filter(({ end }) => Date.now() < end + watchDelayMs).map(({ ms }) => ms)
    return watchDelayMs + Math.max(0, ...felt)
  }

  /** Reads the running pods from the API server. */
  async standing(): Promise<Stored<Pod>[]> {
    const { items } = await this.#client.list(resources.pods, { namespace: this.#namespace })
    for (const pod of items) this.#note(pod)
    return items.filter(isStanding)
  }

  /** Returns the running pods of the last watch event. */
  known(): Stored<Pod>[] {
    return this.#pods.list().filter(isStanding)
  }

  /** Call this before a pod is disrupted. */
  hurts(pod: Stored<Pod>): void {
    this.#hurt.set(pod.metadata.uid, pod)
  }

  /**
   * Call this before a node is lost. Its pods count as disrupted, also those that a scheduler binds to it meanwhile.
   */
  losesNode(name: string): void {
    this.#lostNodes.add(name)
    for (const pod of this.known()) this.#note(pod)
  }

  /** Call this after the node is back. */
  async regainsNode(name: string): Promise<void> {
    await this.standing()
    this.#lostNodes.delete(name)
  }

  hurtPods(): Stored<Pod>[] {
    return [...this.#hurt.values()]
  }

  wasHurt(uid: string): boolean {
    return this.#hurt.has(uid)
  }

  /** Returns pods that were ready until a disruption that the operator may not have observed yet. */
  justHurt(): Stored<Pod>[] {
    const oldest = Date.now() - this.staleMs
    return [...this.#served]
      .filter(([uid, { until }]) => this.wasHurt(uid) && (until === undefined || until >= oldest))
      .map(([, { pod }]) => pod)
  }

  /** Reports whether the pod has been ready for so long that the operator must have observed it. */
  isKnownReady(pod: Stored<Pod>): boolean {
    const since = this.#readySince.get(pod.metadata.uid)
    return isReady(pod) && since !== undefined && since <= Date.now() - this.staleMs
  }

  /** Describes the observed pods with this prefix, for the message of a violation. */
  describe(prefix: string): string {
    const now = Date.now()
    const ago = (at: number | undefined) => (at === undefined ? 'no time' : `${now - at} ms ago`)
    return this.#pods
      .list()
      .filter(({ metadata }) => metadata.name.startsWith(prefix))
      .map(pod => {
        const { name, uid } = pod.metadata
        const since = `ready since ${ago(this.#readySince.get(uid))}, until ${ago(this.#served.get(uid)?.until)}`
        const disrupted = this.wasHurt(uid) ? ', disrupted' : ''
        return `${name} on ${pod.spec?.nodeName} ${isStanding(pod) ? 'runs' : 'ends'}, ${since}${disrupted}`
      })
      .join('; ')
  }

  #note(pod: Stored<Pod>): void {
    const { uid } = pod.metadata
    if (this.#lostNodes.has(pod.spec?.nodeName ?? '')) this.hurts(pod)
    if (!isReady(pod)) this.#readySince.delete(uid)
    else if (!this.#readySince.has(uid)) this.#readySince.set(uid, Date.now())
    if (isReady(pod) && isStanding(pod)) this.#served.set(uid, { pod })
    else this.#servedUntilNow(uid)
  }

  #servedUntilNow(uid: string): void {
    const served = this.#served.get(uid)
    if (served) served.until ??= Date.now()
  }
}
