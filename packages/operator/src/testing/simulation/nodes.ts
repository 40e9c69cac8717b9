// SPDX-License-Identifier: Apache-2.0

// Nodes with a few slots each. Pods are scheduled, start, fail, recover and terminate, one step at a time.
import type { Pod, PodCondition } from '@grove/api'
import type { Stored } from '@grove/kube'
import { resources } from '../../caches/resources.ts'
import { isFinished, isReady, isScheduled, isTerminating } from '../../state/pod-state.ts'
import type { SimulatedApi } from './api.ts'
import type { Random } from './random.ts'

export class SimulatedNodes {
  readonly #api: SimulatedApi
  readonly #random: Random
  #places: number
  readonly #nodes: readonly string[]
  readonly #down = new Set<string>()
  #areCordoned = false

  constructor(api: SimulatedApi, random: Random, nodes: number, places: number) {
    this.#api = api
    this.#random = random
    this.#places = places
    this.#nodes = Array.from({ length: nodes }, (_, at) => `node-${at}`)
  }

  /** Moves one pod one step further: scheduled, started, or deleted. Returns false if no pod can move. */
  progress(): boolean {
    const steps = this.#pods().flatMap(pod => {
      const step = this.#nextStep(pod)
      return step ? [step] : []
    })
    const step = this.#random.pick(steps)
    step?.()
    return step !== undefined
  }

  /** Makes a ready pod unready: a container terminated, or the whole pod failed. */
  fail(): void {
    const pod = this.#random.pick(this.#pods().filter(one => isReady(one) && !isTerminating(one)))
    if (!pod) return
    if (this.#random.chance(20)) this.#set(pod, { phase: 'Failed', conditions: conditions(true, false) })
    else this.stopServing(pod, this.#random.chance(50) ? 1 : undefined)
  }

  stopServing(pod: Stored<Pod>, exitCode?: number): void {
    this.#set(pod, {
      phase: 'Running',
      conditions: conditions(true, false),
      containerStatuses: [status(false, exitCode)],
    })
  }

  /** Deletes a pod, as a user would. */
  kill(): void {
    const pod = this.#random.pick(this.#pods().filter(one => !isTerminating(one)))
    if (pod) this.#api.remove(resources.pods, pod)
  }

  /** Removes a node and all of its pods. */
  lose(): void {
    const node = this.#random.pick(this.#nodes.filter(name => !this.#down.has(name)))
    if (!node || this.#down.size + 1 >= this.#nodes.length) return
    this.#down.add(node)
    for (const pod of this.#pods())
      if (pod.spec?.nodeName === node && !isTerminating(pod)) this.#api.remove(resources.pods, pod)
  }

  /** Removes all nodes and their pods. */
  loseAll(): void {
    for (const node of this.#nodes) this.#down.add(node)
    for (const pod of this.#pods()) if (!isTerminating(pod)) this.#api.remove(resources.pods, pod)
  }

  /** Cordons every node: it keeps its pods and accepts no others. */
  cordon(): void {
    this.#areCordoned = true
  }

  uncordon(): void {
    this.#areCordoned = false
  }

  return(): void {
    const node = this.#random.pick([...this.#down])
    if (node) this.#down.delete(node)
  }

  /** Restores every node, with room for all pods. */
  returnAll(): void {
    this.#down.clear()
    this.#places = Number.POSITIVE_INFINITY
  }

  #pods(): Stored<Pod>[] {
    return this.#api.list(resources.pods) as Stored<Pod>[]
  }

  #nextStep(pod: Stored<Pod>): (() => void) | undefined {
    if (isTerminating(pod)) return () => this.#api.remove(resources.pods, pod)
    if (isFinished(pod) || isReady(pod) || pod.spec?.schedulingGates?.length) return undefined
    if (!isScheduled(pod)) {
      const node = this.#free()
      return node
        ? () => {
            this.#api.modify(resources.pods, pod.metadata.name, { spec: { nodeName: node } })
            this.#set(pod, { phase: 'Pending', conditions: conditions(true, false) })
          }
        : undefined
    }
    return () =>
      this.#set(pod, {
        phase: 'Running',
        conditions: conditions(true, true),
        containerStatuses: [status(true)],
      })
  }

  #free(): string | undefined {
    if (this.#areCordoned) return undefined
    const used = new Map<string, number>()
    for (const pod of this.#pods())
      if (pod.spec?.nodeName) used.set(pod.spec.nodeName, (used.get(pod.spec.nodeName) ?? 0) + 1)
    return this.#nodes.find(node => !this.#down.has(node) && (used.get(node) ?? 0) < this.#places)
  }

  #set(pod: Stored<Pod>, value: NonNullable<Pod['status']>): void {
    const before = new Map(pod.status?.conditions?.map(condition => [condition.type, condition]))
    const conditions = value.conditions?.map(condition => {
      const old = before.get(condition.type)
      const isSame = old?.status === condition.status
      return { ...condition, lastTransitionTime: isSame ? old.lastTransitionTime : this.#api.now() }
    })
    this.#api.modify(resources.pods, pod.metadata.name, { status: { ...value, conditions } })
  }
}

function conditions(scheduled: boolean, ready: boolean): PodCondition[] {
  return [
    { type: 'PodScheduled', status: scheduled ? 'True' : 'False' },
    { type: 'Ready', status: ready ? 'True' : 'False' },
  ]
}

function status(ready: boolean, exitCode?: number) {
  return {
    name: 'main',
    image: '',
    imageID: '',
    restartCount: 0,
    started: true,
    ready,
    ...(exitCode !== undefined && { lastState: { terminated: { exitCode } } }),
  }
}
