// SPDX-License-Identifier: Apache-2.0

import { isNotFound, type Stored } from '@grove/kube'
import { changesOf, keyOf, refOf } from '../controllers/changes.ts'
import { ControlLoop, type Requeue } from '../controllers/control-loop.ts'
import { type Node, nodes, type Pod, pods } from '../controllers/kinds.ts'
import type { Runtime } from '../controllers/runtime.ts'
import { stoppedAnnotation } from '../nodes/stopped.ts'
import type { Container } from '../schema/types.generated.ts'
import type { SimulatedContainer } from './container.ts'
import { ContainerLogs } from './logs.ts'
import { PodAddresses } from './pod-addresses.ts'
import { defaultKubeletSettings, type KubeletSettings, podScript } from './settings.ts'
import { SimulatedPod } from './simulated-pod.ts'
import { podStatus, type StatusPatch } from './status.ts'

/** The result of an init container that ran in this process. */
export interface RunResult {
  readonly exitCode: number
  readonly message?: string
}

export interface RunContext {
  /** Aborted when the pod ends first. */
  readonly signal: AbortSignal
  /** Appends a line to the log of the container. */
  log(line: string): void
}

export interface KubeletOptions {
  readonly settings?: Partial<KubeletSettings>
  /** Runs an init container in this process. Returns undefined to simulate it instead. */
  readonly runInitContainer?: (
    pod: Stored<Pod>,
    container: Container,
    context: RunContext,
  ) => Promise<RunResult> | undefined
  readonly logs?: ContainerLogs
}

const workers = 32

interface Running {
  readonly simulated: SimulatedPod
  readonly abort: AbortController
  written: number
}

/**
 * The kubelets of all nodes. Settings and annotations determine how fast pods go through their phases. Pods
 * of a stopped or deleted node do not change.
 */
export class Kubelet extends ControlLoop {
  readonly logs: ContainerLogs
  readonly #options: KubeletOptions
  #settings: KubeletSettings
  readonly #running = new Map<string, Running>()
  readonly #addresses = new PodAddresses()

  constructor(runtime: Runtime, options: KubeletOptions = {}) {
    super('kubelet', runtime, workers)
    const { caches } = runtime
    this.#options = options
    this.#settings = { ...defaultKubeletSettings, ...options.settings }
    this.logs = options.logs ?? new ContainerLogs()
    const podCache = caches.pods
    const nodeCache = caches.of(nodes)
    this.watch(
      changesOf(podCache, ({ old, new: pod }) => {
        if (!pod) this.#forget(old)
        return pod?.spec?.nodeName ? [keyOf(pod.metadata)] : []
      }),
      changesOf(nodeCache, ({ old, new: node }) => {
        const hasComeAlive = node && (!old || isStopped(old)) && !isStopped(node)
        if (!hasComeAlive) return []
        return podCache.byIndex('node', node.metadata.name).map(({ metadata }) => keyOf(metadata))
      }),
    )
  }

  override start(signal: AbortSignal): Promise<void> {
    for (const pod of this.runtime.caches.pods.list())
      if (pod.status?.podIP) this.#addresses.restore(pod.metadata.uid, pod.status.podIP)
    signal.addEventListener('abort', () => this.#abortAll(), { once: true })
    return super.start(signal)
  }

  override async stop(): Promise<void> {
    this.#abortAll()
    await super.stop()
  }

  /** Changes the settings for pods that start later. */
  set(settings: Partial<KubeletSettings>): void {
    this.#settings = { ...this.#settings, ...settings }
  }

  protected async reconcile(key: string): Promise<Requeue> {
    const pod = this.runtime.caches.pods.get(refOf(key))
    if (!pod?.spec?.nodeName) return undefined
    const node = this.runtime.caches.of(nodes).get({ name: pod.spec.nodeName })
    if (!node || isStopped(node)) return undefined
    if (hasEnded(pod)) return pod.metadata.deletionTimestamp ? this.#remove(pod) : undefined
    const running = this.#runningOf(pod)
    const due = this.#step(running, pod)
    if (running.simulated.stopping && due === undefined) return this.#finish(running, pod, node)
    await this.#write(running, pod, node)
    this.#report(running, pod)
    return due === undefined ? undefined : { requeueAt: due }
  }

  #runningOf(pod: Stored<Pod>): Running {
    const { uid } = pod.metadata
    let running = this.#running.get(uid)
    if (!running) {
      const simulated = new SimulatedPod(pod, this.runtime.clock.now())
      running = { simulated, abort: new AbortController(), written: 0 }
      this.#running.set(uid, running)
    }
    return running
  }

  #step({ simulated, abort }: Running, pod: Stored<Pod>): number | undefined {
    const now = this.runtime.clock.now()
    const script = podScript(pod, this.#settings)
    if (pod.metadata.deletionTimestamp) {
      simulated.stop(now, script, (pod.metadata.deletionGracePeriodSeconds ?? 0) * 1_000)
      abort.abort(new Error('the pod is being deleted'))
    }
    return simulated.step(now, script, container => this.#runOutside(container, simulated, pod, abort.signal))
  }

  #runOutside(
    container: SimulatedContainer,
    simulated: SimulatedPod,
    pod: Stored<Pod>,
    signal: AbortSignal,
  ): boolean {
    const { clock } = this.runtime
    const log = (line: string) => this.logs.append(simulated.uid, container.name, line, clock.now())
    const running = this.#options.runInitContainer?.(pod, container.spec, { signal, log })
    if (!running) return false
    const finish = ({ exitCode, message }: RunResult) => {
      if (signal.aborted) return
      simulated.finishOutside(container.name, exitCode, message)
      this.enqueue(keyOf(pod.metadata))
    }
    running.then(finish, (error: unknown) => finish({ exitCode: 1, message: String(error) }))
    return true
  }

  /** Writes the status if the simulated pod, the spec, or a condition of another controller changed. */
  async #write(running: Running, pod: Stored<Pod>, node: Stored<Node>): Promise<void> {
    const { simulated } = running
    const version = simulated.version
    const observed = pod.status?.observedGeneration === pod.metadata.generation
    if (running.written === version && observed && !pod.spec?.readinessGates?.length) return
    const status = podStatus(simulated, pod, this.#addressesOf(pod, node), this.runtime.clock.now())
    if (running.written === version && observed && sameReadiness(pod, status)) return
    const strategic = { metadata: { uid: pod.metadata.uid }, status }
    try {
      await this.runtime.client.patch(pods, pod.metadata, { strategic }, { subresource: 'status' })
      running.written = version
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
  }

  async #finish(running: Running, pod: Stored<Pod>, node: Stored<Node>): Promise<undefined> {
    // A controller with a finalizer needs the final status. Without finalizers the pod is removed at once.
    if (pod.metadata.finalizers?.length) await this.#write(running, pod, node)
    return this.#remove(pod)
  }

  async #remove(pod: Stored<Pod>): Promise<undefined> {
    if (pod.metadata.deletionGracePeriodSeconds === 0) return undefined
    try {
      const { uid } = pod.metadata
      await this.runtime.client.delete(pods, pod.metadata, { gracePeriodSeconds: 0, preconditions: { uid } })
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
    return undefined
  }

  #report({ simulated }: Running, pod: Stored<Pod>): void {
    for (const { container, what } of simulated.occurrences.splice(0)) {
      const note = { component: 'kubelet' }
      if (what === 'backing off') {
        const { name, namespace, uid } = pod.metadata
        const message = `Back-off restarting failed container ${container} in pod ${name}_${namespace}(${uid})`
        this.runtime.events.record(pods, pod, { ...note, type: 'Warning', reason: 'BackOff', message })
      } else {
        const message = 'Liveness probe failed: an annotation simulates a failure'
        const killing = `Container ${container} failed liveness probe, will be restarted`
        this.runtime.events.record(pods, pod, { ...note, type: 'Warning', reason: 'Unhealthy', message })
        this.runtime.events.record(pods, pod, {
          ...note,
          type: 'Normal',
          reason: 'Killing',
          message: killing,
        })
      }
    }
  }

  #addressesOf(pod: Stored<Pod>, node: Stored<Node>) {
    const internal = node.status?.addresses?.find(({ type }) => type === 'InternalIP')?.address
    const hostIP = internal ?? '127.0.0.1'
    return { hostIP, podIP: pod.spec?.hostNetwork ? hostIP : this.#addresses.addressOf(pod.metadata.uid) }
  }

  #forget({ metadata: { uid } }: Stored<Pod>): void {
    this.#running.get(uid)?.abort.abort(new Error('the pod was deleted'))
    this.#running.delete(uid)
    this.#addresses.release(uid)
    this.logs.forget(uid)
  }

  #abortAll(): void {
    for (const { abort } of this.#running.values()) abort.abort(new Error('the kubelet is stopping'))
  }
}

export function isStopped(node: Stored<Node>): boolean {
  return node.metadata.annotations?.[stoppedAnnotation] === 'true'
}

function hasEnded({ status }: Pod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed'
}

function sameReadiness(pod: Pod, status: StatusPatch): boolean {
  const old = pod.status?.conditions?.find(({ type }) => type === 'Ready')
  const now = status.conditions.find(({ type }) => type === 'Ready')
  return old?.status === now?.status && (old?.message ?? null) === (now?.message ?? null)
}
