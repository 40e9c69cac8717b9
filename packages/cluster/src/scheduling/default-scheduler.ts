// SPDX-License-Identifier: Apache-2.0

import { semanticallyEqual } from '@grove/apimachinery'
import { bindPod, type Change, isConflict, isNotFound, type Stored, type Timer } from '@grove/kube'
import { type Namespace, type Node, namespaces, nodes, type Pod, pods } from '../controllers/kinds.ts'
import type { Component, Runtime } from '../controllers/runtime.ts'
import { ClusterState } from './cluster-state.ts'
import { explainRejections, noNodesText } from './explanation.ts'
import type { Filter, FilterName, Rejection } from './filter.ts'
import { defaultFilters } from './filters/index.ts'
import type { NodeState } from './node-state.ts'
import { type PodInfo, podInfo } from './pod-info.ts'
import { planPreemption } from './preemption.ts'
import { nodeMayHelp, podRemovalHelps } from './queueing-hints.ts'
import type { SchedulingExtension } from './scheduling-extension.ts'
import { SchedulingQueue } from './scheduling-queue.ts'
import { selectNode } from './select-node.ts'
import { disruptionPatch, unschedulablePatch } from './unschedulable.ts'

export interface DefaultSchedulerOptions {
  /** Schedules pods with this spec.schedulerName. */
  readonly schedulerName?: string
  /** Schedules resources other than those of nodes, for example devices. */
  readonly extension?: SchedulingExtension
}

const defaultSchedulerName = 'default-scheduler'

/** The number of concurrent bindings. */
const maximumBindings = 64
/** The number of pods scheduled before other tasks of the process run. */
const podsPerTurn = 100

/** The filters that an assigned or changed pod can affect for other pods. */
const podRules: readonly FilterName[] = ['PodTopologySpread', 'InterPodAffinity']
const podRemovedRules: readonly FilterName[] = ['NodeResourcesFit', 'NodePorts', ...podRules]

/**
 * Schedules one pod at a time, like kube-scheduler with its default plugins. A decision counts at once,
 * before the API server confirms it. Therefore concurrent bindings never overcommit a node.
 */
export class DefaultScheduler implements Component {
  readonly name: string
  readonly state: ClusterState
  readonly #runtime: Runtime
  readonly #filters: readonly Filter[]
  readonly #extension: SchedulingExtension | undefined
  readonly #queue: SchedulingQueue
  /** Assumed pods: scheduled, but not yet seen in the cache. */
  readonly #binding = new Set<string>()
  readonly #unsubscribe: (() => void)[] = []
  readonly #pending = new Set<Promise<void>>()
  #start = 0
  #turn: Timer | undefined
  #signal: AbortSignal | undefined

  constructor(runtime: Runtime, options: DefaultSchedulerOptions = {}) {
    this.name = options.schedulerName ?? defaultSchedulerName
    this.#runtime = runtime
    this.#extension = options.extension
    this.#filters = [...defaultFilters, ...(options.extension ? [options.extension.filter] : [])]
    const { caches, clock } = runtime
    const spaces = caches.of(namespaces)
    this.state = new ClusterState(name => spaces.get({ name })?.metadata.labels ?? {})
    this.#queue = new SchedulingQueue(clock, () => this.#scheduleTurn())
    caches.require(pods, nodes)
  }

  /** The number of pods in the active queue and of unschedulable pods. */
  get waiting(): { readonly active: number; readonly unschedulable: number } {
    return { active: this.#queue.active, unschedulable: this.#queue.unschedulable }
  }

  start(signal: AbortSignal): void {
    const { caches } = this.#runtime
    this.#signal = signal
    this.#unsubscribe.push(
      caches.of(nodes).onChange(change => this.#onNode(change)),
      caches.pods.onChange(change => this.#onPod(change)),
      caches.of(namespaces).onChange(change => this.#onNamespace(change)),
    )
  }

  async stop(): Promise<void> {
    for (const unsubscribe of this.#unsubscribe.splice(0)) unsubscribe()
    this.#turn?.cancel()
    this.#signal = undefined
    this.#queue.clear()
    await Promise.all(this.#pending)
  }

  /** Retries pods that this filter rejected. */
  activate(filter: FilterName): void {
    this.#queue.activate([filter], () => true)
  }

  /** Retries a pod that an extension held back. */
  reconsider(pod: Stored<Pod>): void {
    if (!pod.spec?.nodeName && !hasEnded(pod) && !this.#binding.has(podInfo(pod).key))
      this.#podUnscheduled(undefined, pod)
  }

  #onNode({ type, old, new: node }: Change<Node>): void {
    if (type === 'delete') {
      this.state.removeNode(old.metadata.name)
      this.#queue.activate(podRules, () => true)
      return
    }
    this.state.setNode(node)
    if (nodeMayHelp(old, node)) this.#queue.activateAll()
  }

  #onNamespace({ old, new: namespace }: Change<Namespace>): void {
    if (old && namespace && !semanticallyEqual(old.metadata.labels, namespace.metadata.labels))
      this.#queue.activate(['InterPodAffinity'], () => true)
  }

  #onPod({ old, new: pod }: Change<Pod>): void {
    const key = podInfo((pod ?? old) as Pod).key
    if (!pod || hasEnded(pod)) this.#podRemoved(key)
    else if (pod.spec?.nodeName) this.#podOnNode(old, pod, pod.spec.nodeName)
    else if (!this.#binding.has(key)) this.#podUnscheduled(old, pod)
  }

  #podOnNode(old: Stored<Pod> | undefined, pod: Stored<Pod>, node: string): void {
    const info = podInfo(pod)
    this.#binding.delete(info.key)
    this.#queue.remove(info.key)
    this.state.setPod(info, node)
    if (!old?.spec?.nodeName || !semanticallyEqual(old.metadata.labels, pod.metadata.labels))
      this.#queue.activate(podRules, () => true)
  }

  #podUnscheduled(old: Stored<Pod> | undefined, pod: Stored<Pod>): void {
    const info = podInfo(pod)
    if (!this.#isOurs(pod)) this.#queue.remove(info.key)
    else if (old && this.#queue.has(info.key) && isSchedulingUnchanged(old, pod)) this.#queue.refresh(info)
    else this.#queue.add(info)
  }

  #podRemoved(key: string): void {
    this.#queue.remove(key)
    this.#binding.delete(key)
    const place = this.state.assignmentOf(key)
    this.state.removePod(key)
    if (place) this.#queue.activate(podRemovedRules, podRemovalHelps(place.node))
  }

  #isOurs(pod: Stored<Pod>): boolean {
    const { spec, metadata } = pod
    return (
      (spec?.schedulerName || defaultSchedulerName) === this.name &&
      !metadata.deletionTimestamp &&
      !spec?.schedulingGates?.length &&
      !this.#extension?.holds(pod)
    )
  }

  #scheduleTurn(): void {
    if (this.#turn || !this.#signal) return
    this.#turn = this.#runtime.clock.setTimeout(() => this.#takeTurn(), 0)
  }

  #takeTurn(): void {
    this.#turn = undefined
    for (let count = 0; count < podsPerTurn && this.#pending.size < maximumBindings; count++) {
      const info = this.#queue.take()
      if (!info) return
      this.#schedule(info)
    }
    if (this.#queue.active && this.#pending.size < maximumBindings) this.#scheduleTurn()
  }

  #schedule(info: PodInfo): void {
    const { random } = this.#runtime
    const placement = selectNode(info, this.state, { filters: this.#filters, random, start: this.#start })
    if (!placement.ok) {
      this.#track(this.#reject(info, placement.rejections, placement.filters))
      return
    }
    this.#start = (this.#start + placement.feasible) % this.state.nodes.length
    this.#binding.add(info.key)
    this.state.setPod(info, placement.node.name)
    this.#extension?.reserve(info, placement.node)
    this.#track(this.#bind(info, placement.node))
  }

  async #bind(info: PodInfo, node: NodeState): Promise<void> {
    const { client, log } = this.#runtime
    const pod = info.pod as Stored<Pod>
    try {
      await this.#extension?.preBind(info, node)
      await bindPod(client, pod.metadata as { name: string; namespace: string }, node.name, {
        uid: pod.metadata.uid,
        signal: this.#signal,
      })
      const message = `Successfully assigned ${info.key} to ${node.name}`
      this.#record(pod, 'Normal', 'Scheduled', message)
    } catch (error) {
      // If the pod is bound or deleted, the watch will show it.
      if (!this.#binding.has(info.key) || (await this.#wasBound(pod, error))) return
      this.#binding.delete(info.key)
      this.state.removePod(info.key)
      this.#extension?.release(info)
      // The pod itself leaves the queue when the watch shows its deletion. A claim of it may be recreated.
      if (!isConflict(error) && !isNotFound(error))
        log.warn('Binding failed, retrying', { pod: info.key, error })
      this.#queue.retry(info.key)
    }
  }

  /**
   * A lost response may belong to a successful binding, so the resources stay assumed if the pod is bound. If the pod
   * cannot be read, it counts as unbound until the watch shows the binding.
   */
  async #wasBound(pod: Stored<Pod>, error: unknown): Promise<boolean> {
    if (isNotFound(error)) return false
    try {
      const live = await this.#runtime.client.find(pods, pod.metadata)
      return live?.metadata.uid === pod.metadata.uid && Boolean(live.spec?.nodeName)
    } catch {
      return false
    }
  }

  async #reject(
    info: PodInfo,
    rejections: ReadonlyMap<NodeState, Rejection>,
    filters: ReadonlySet<FilterName>,
  ): Promise<void> {
    const pod = info.pod as Stored<Pod>
    let message = noNodesText
    let nominated: string | undefined
    let isStuck = false
    if (rejections.size) {
      const plan = planPreemption(info, this.state, rejections, this.#filters)
      message = explainRejections(rejections.size, rejections.values())
      if (plan.ok) {
        nominated = plan.node.name
        message += ` preemption: found a potential placement for pod on node ${nominated}, preempting ${plan.victims.length} victims`
        for (const victim of plan.victims)
          if (!victim.terminating && !(await this.#preempt(victim, info, nominated))) isStuck = true
      } else message += ` preemption: ${plan.message}`
    }
    this.#queue.putBack(info.key, rejections.size ? filters : allRules)
    if (isStuck) this.#queue.retry(info.key)
    this.#record(pod, 'Warning', 'FailedScheduling', message)
    const patch = unschedulablePatch(pod, message, nominated, this.#runtime.clock.now())
    if (!patch) return
    try {
      await this.#runtime.client.patch(pods, pod.metadata, { strategic: patch }, { subresource: 'status' })
    } catch (error) {
      if (isNotFound(error)) return
      this.#runtime.log.warn('Could not write the PodScheduled condition', { pod: info.key, error })
      this.#queue.retry(info.key)
    }
  }

  /** Returns true if the victim is terminating. */
  async #preempt(victim: PodInfo, by: PodInfo, node: string): Promise<boolean> {
    const { client, clock, log } = this.#runtime
    const pod = victim.pod as Stored<Pod>
    try {
      const strategic = disruptionPatch(pod, this.name, clock.now())
      await client.patch(pods, pod.metadata, { strategic }, { subresource: 'status' })
      await client.delete(pods, pod.metadata, { preconditions: { uid: pod.metadata.uid } })
      this.#record(pod, 'Normal', 'Preempted', `Preempted by pod ${by.pod.metadata?.uid} on node ${node}`)
      return true
    } catch (error) {
      if (isNotFound(error)) return true
      log.warn('Preemption failed', { pod: victim.key, error })
      return false
    }
  }

  #record(pod: Stored<Pod>, type: 'Normal' | 'Warning', reason: string, message: string): void {
    this.#runtime.events.record(pods, pod, { type, reason, message, component: this.name })
  }

  #track(work: Promise<void>): void {
    this.#pending.add(work)
    void work.finally(() => {
      this.#pending.delete(work)
      if (this.#queue.active) this.#scheduleTurn()
    })
  }
}

const allRules: ReadonlySet<FilterName> = new Set([...podRemovedRules, 'NodeUnschedulable'])

function hasEnded(pod: Pod): boolean {
  return pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed'
}

/** Reports whether the fields that affect scheduling are unchanged. The status is not one of them. */
function isSchedulingUnchanged(old: Stored<Pod>, pod: Stored<Pod>): boolean {
  return (
    old.metadata.generation === pod.metadata.generation &&
    semanticallyEqual(old.metadata.labels, pod.metadata.labels)
  )
}
