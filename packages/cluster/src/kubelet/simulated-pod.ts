// SPDX-License-Identifier: Apache-2.0

import type { Stored } from '@grove/kube'
import type { Pod } from '../controllers/kinds.ts'
import { SimulatedContainer } from './container.ts'
import { type End, killedExitCode, livenessEnd } from './liveness.ts'
import { backoffText } from './restart-backoff.ts'
import type { ContainerScript, PodScript } from './settings.ts'

/** Something in a step that the kubelet reports as an event. */
export interface Occurrence {
  readonly container: string
  readonly what: 'backing off' | 'liveness failed'
}

/** Runs an init container in this process. Returns false to simulate it. */
export type InitRunner = (container: SimulatedContainer) => boolean

const crashExitCode = 1
const deadlineExceeded = {
  reason: 'DeadlineExceeded',
  message: 'Pod was active on the node longer than the specified deadline',
}

/**
 * The state machine of a simulated pod, driven by its spec and annotations. It uses neither the API nor a
 * clock: `step` receives the time, performs all due transitions and returns the time of the next one.
 */
export class SimulatedPod {
  readonly uid: string
  readonly initial: readonly SimulatedContainer[]
  readonly main: readonly SimulatedContainer[]
  readonly occurrences: Occurrence[] = []
  /** Incremented with every change that is visible in the status. */
  version = 1
  hasNetwork = false
  initialized: boolean
  stopping: { readonly from: number; readonly until: number; readonly killed: boolean } | undefined
  readonly admittedAt: number
  readonly #pod: Stored<Pod>
  /** Results of init containers that run in this process. */
  readonly #outside = new Map<string, { readonly exitCode: number; readonly message?: string } | undefined>()
  #failed = false
  /** The reason why the pod failed as a whole, for example its active deadline. */
  failure: { readonly reason: string; readonly message: string } | undefined

  constructor(pod: Stored<Pod>, now: number) {
    const { initContainers = [], containers = [] } = pod.spec ?? {}
    const waitingFor = initContainers.length ? 'PodInitializing' : 'ContainerCreating'
    this.uid = pod.metadata.uid
    this.#pod = pod
    this.initial = initContainers.map(
      spec =>
        new SimulatedContainer(spec, spec.restartPolicy === 'Always' ? 'sidecar' : 'init', 'PodInitializing'),
    )
    this.main = containers.map(spec => new SimulatedContainer(spec, 'main', waitingFor))
    this.admittedAt = pod.status?.startTime ? Date.parse(pod.status.startTime) : now
    this.initialized = this.initial.length === 0
    this.#restore(pod)
  }

  get containers(): readonly SimulatedContainer[] {
    return [...this.initial, ...this.main]
  }

  /** The final phase after all containers ended; undefined before. */
  get outcome(): 'Succeeded' | 'Failed' | undefined {
    if (this.#failed) return 'Failed'
    if (!this.initialized) {
      const stuck = this.initial.some(
        ({ kind, phase }) => kind === 'init' && phase.is === 'ended' && phase.exitCode !== 0,
      )
      return stuck && (this.#policy === 'Never' || this.stopping) ? 'Failed' : undefined
    }
    if (!this.main.every(({ isDone }) => isDone)) return undefined
    const failed = this.main.some(({ phase }) => phase.is === 'ended' && phase.exitCode !== 0)
    if (this.stopping) return failed ? 'Failed' : 'Succeeded'
    if (this.#policy === 'Always') return undefined
    return failed ? (this.#policy === 'Never' ? 'Failed' : undefined) : 'Succeeded'
  }

  /** Stops the pod. Its containers end within `graceMs`. */
  stop(now: number, script: PodScript, graceMs: number): void {
    const until = now + Math.min(script.stopMs, graceMs)
    if (this.stopping && this.stopping.until <= until) return
    this.stopping = { from: this.stopping?.from ?? now, until, killed: script.stopMs > graceMs }
  }

  /** Records the result of an init container that ran in this process. */
  finishOutside(name: string, exitCode: number, message?: string): void {
    this.#outside.set(name, { exitCode, ...(message && { message }) })
  }

  /**
   * Performs due transitions. Returns the time of the next one, or undefined if only an external change can
   * cause one.
   */
  step(now: number, script: PodScript, runOutside: InitRunner): number | undefined {
    if (this.stopping) return this.#stepStopping(now)
    if (this.outcome) return undefined
    if (script.fail === 'exit') return this.#exit(now, script)
    const deadline = script.activeMs === undefined ? undefined : this.admittedAt + script.activeMs
    if (deadline !== undefined && now >= deadline) return this.#exceedDeadline(now)
    return earliest(deadline, this.#stepActive(now, script, runOutside))
  }

  #stepActive(now: number, script: PodScript, runOutside: InitRunner): number | undefined {
    const networkAt = this.admittedAt + script.startMs
    if (!this.hasNetwork) {
      if (now < networkAt) return networkAt
      this.hasNetwork = true
      this.version++
    }
    if (script.imageMissing && !this.main.some(({ hasStarted }) => hasStarted)) return this.#missImage()
    const due = this.#stepInitial(now, script, runOutside)
    if (!this.initialized) return due
    return earliest(due, ...this.main.map(container => this.#stepContainer(container, now, script)))
  }

  #stepInitial(now: number, script: PodScript, runOutside: InitRunner): number | undefined {
    let due: number | undefined
    for (const container of this.initial) {
      if (container.kind === 'init' && container.phase.is === 'ended' && container.phase.exitCode === 0)
        continue
      due = earliest(due, this.#stepContainer(container, now, script, runOutside))
      const phase = container.phase
      const passed =
        container.kind === 'sidecar' ? container.hasStarted : phase.is === 'ended' && phase.exitCode === 0
      if (!passed) return due
    }
    if (!this.initialized) {
      this.initialized = true
      this.version++
    }
    return due
  }

  /** Advances one container to the current time. */
  #stepContainer(
    container: SimulatedContainer,
    now: number,
    podScript: PodScript,
    runOutside?: InitRunner,
  ): number | undefined {
    const hasProbe = container.spec.readinessProbe !== undefined
    const script = podScript.container(container.name, container.kind, hasProbe)
    const crashes = podScript.fail === 'crash' && container.kind === 'main'
    for (;;) {
      const { phase } = container
      if (phase.is === 'waiting') {
        if (phase.until !== undefined && now < phase.until) return phase.until
        this.#startContainer(container, now, runOutside)
      } else if (phase.is === 'running') {
        const end = crashes
          ? {
              at: now,
              exitCode: script.exitCode ?? crashExitCode,
              ...(script.message && { message: script.message }),
            }
          : this.#endOf(container, now, phase.startedAt, script)
        if (end === undefined || now < end.at)
          return earliest(end?.at, this.#stepReadiness(container, now, phase.startedAt, script))
        container.end(end.at, end.exitCode, end.message)
        if (end.livenessFailed) this.occurrences.push({ container: container.name, what: 'liveness failed' })
        this.version++
      } else {
        if (!this.#restarts(container, phase.exitCode)) return undefined
        const wait = container.backoff.waitAfterEnd(phase.finishedAt)
        const until = phase.finishedAt + wait
        if (now >= until) this.#startContainer(container, now, runOutside)
        else {
          container.wait('CrashLoopBackOff', this.#backoffMessage(container, wait), until)
          this.occurrences.push({ container: container.name, what: 'backing off' })
          this.version++
        }
      }
    }
  }

  #startContainer(container: SimulatedContainer, now: number, runOutside: InitRunner | undefined): void {
    container.start(now)
    this.version++
    this.#outside.delete(container.name)
    if (container.kind === 'init' && runOutside?.(container)) this.#outside.set(container.name, undefined)
  }

  #endOf(
    container: SimulatedContainer,
    now: number,
    startedAt: number,
    { runMs, exitCode = 0, message, live }: ContainerScript,
  ): End | undefined {
    if (this.#outside.has(container.name)) {
      const result = this.#outside.get(container.name)
      return result && { at: startedAt, ...result }
    }
    const killed = live ? undefined : livenessEnd(container, now, startedAt)
    if (live) container.livenessFailingSince = undefined
    const own =
      runMs === undefined ? undefined : { at: startedAt + runMs, exitCode, ...(message && { message }) }
    return killed && (!own || killed.at < own.at) ? killed : own
  }

  #stepReadiness(
    container: SimulatedContainer,
    now: number,
    startedAt: number,
    { ready, readyMs }: ContainerScript,
  ): number | undefined {
    if (container.kind === 'init') return undefined
    const readyAt = startedAt + readyMs
    const isReady = ready && now >= readyAt
    if (isReady !== container.ready) {
      container.ready = isReady
      this.version++
    }
    return ready && now < readyAt ? readyAt : undefined
  }

  #restarts(container: SimulatedContainer, exitCode: number): boolean {
    if (container.kind === 'sidecar') return true
    if (container.kind === 'init') return exitCode !== 0 && this.#policy !== 'Never'
    return this.#policy === 'Always' || (this.#policy === 'OnFailure' && exitCode !== 0)
  }

  #stepStopping(now: number): number | undefined {
    const { until, killed } = this.stopping!
    if (now < until) return until
    for (const container of this.containers) {
      if (container.phase.is === 'running') container.end(until, killed ? killedExitCode : 0)
      else if (container.phase.is === 'waiting' && container.last)
        container.phase = { is: 'ended', ...container.last }
    }
    this.version++
    return undefined
  }

  #exit(now: number, script: PodScript): undefined {
    for (const container of this.main) {
      const { exitCode = crashExitCode, message } = script.container(container.name, 'main', false)
      container.end(now, exitCode, message)
    }
    this.#failed = true
    this.version++
    return undefined
  }

  #exceedDeadline(now: number): undefined {
    for (const container of this.containers)
      if (container.phase.is === 'running') container.end(now, killedExitCode)
    this.#failed = true
    this.failure = deadlineExceeded
    this.version++
    return undefined
  }

  #missImage(): undefined {
    const image = (spec: { image?: string }) => spec.image ?? ''
    for (const container of this.initial.length ? this.initial.slice(0, 1) : this.main) {
      if (container.phase.is === 'waiting' && container.phase.reason === 'ImagePullBackOff') continue
      const message = `Back-off pulling image "${image(container.spec)}"`
      container.phase = { is: 'waiting', reason: 'ImagePullBackOff', message }
      this.version++
    }
    return undefined
  }

  #backoffMessage(container: SimulatedContainer, wait: number): string {
    const { name, namespace, uid } = this.#pod.metadata
    return `back-off ${backoffText(wait)} restarting failed container=${container.name} pod=${name}_${namespace}(${uid})`
  }

  get #policy(): string {
    return this.#pod.spec?.restartPolicy ?? 'Always'
  }

  #restore({ status }: Stored<Pod>): void {
    const known = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])]
    if (known.length === 0) return
    for (const container of this.containers) {
      const old = known.find(({ name }) => name === container.name)
      if (old) container.restore(old)
      // An earlier process ran it, and that run is lost, so it runs again.
      if (container.kind === 'init' && container.phase.is === 'running')
        container.phase = { is: 'waiting', reason: 'PodInitializing' }
    }
    this.hasNetwork = Boolean(status?.podIP)
    this.#failed = status?.phase === 'Failed'
    this.initialized ||= this.main.some(({ hasStarted }) => hasStarted)
  }
}

function earliest(...moments: readonly (number | undefined)[]): number | undefined {
  let first: number | undefined
  for (const moment of moments)
    if (moment !== undefined && (first === undefined || moment < first)) first = moment
  return first
}
