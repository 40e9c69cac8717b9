// SPDX-License-Identifier: Apache-2.0

import type { Container, ContainerState, ContainerStatus } from '../schema/types.generated.ts'
import { RestartBackoff } from './restart-backoff.ts'

export type ContainerKind = 'init' | 'sidecar' | 'main'

export interface Ended {
  readonly startedAt: number
  readonly finishedAt: number
  readonly exitCode: number
  readonly message?: string
}

export type ContainerPhase =
  | { readonly is: 'waiting'; readonly reason: string; readonly message?: string; readonly until?: number }
  | { readonly is: 'running'; readonly startedAt: number }
  | ({ readonly is: 'ended' } & Ended)

/** One container of a simulated pod. Times are milliseconds since the epoch. */
export class SimulatedContainer {
  readonly spec: Container
  readonly name: string
  readonly kind: ContainerKind
  readonly backoff = new RestartBackoff()
  phase: ContainerPhase
  last: Ended | undefined
  restarts = 0
  ready = false
  /** The start of liveness probe failures. */
  livenessFailingSince: number | undefined

  constructor(spec: Container, kind: ContainerKind, waitingFor: string) {
    this.spec = spec
    this.name = spec.name ?? ''
    this.kind = kind
    this.phase = { is: 'waiting', reason: waitingFor }
  }

  get hasStarted(): boolean {
    return this.phase.is !== 'waiting' || this.last !== undefined
  }

  get isDone(): boolean {
    return this.phase.is === 'ended'
  }

  start(now: number): void {
    if (this.hasStarted) {
      this.restarts++
      this.backoff.restarted(now)
    }
    if (this.phase.is === 'ended') this.last = this.phase
    this.phase = { is: 'running', startedAt: now }
    this.ready = false
    this.livenessFailingSince = undefined
  }

  end(now: number, exitCode: number, message?: string): void {
    const startedAt = this.phase.is === 'running' ? this.phase.startedAt : now
    this.phase = { is: 'ended', startedAt, finishedAt: now, exitCode, ...(message && { message }) }
    // The kubelet reports a completed init container as ready.
    this.ready = this.kind === 'init' && exitCode === 0
  }

  /** Delays the next start. */
  wait(reason: string, message: string, until: number): void {
    if (this.phase.is === 'ended') this.last = this.phase
    this.phase = { is: 'waiting', reason, message, until }
  }

  /** Restores the state from the status that an earlier kubelet wrote. */
  restore(status: ContainerStatus): void {
    this.restarts = status.restartCount ?? 0
    this.ready = status.ready ?? false
    this.last = endedOf(status.lastState)
    const ended = endedOf(status.state)
    if (ended) this.phase = { is: 'ended', ...ended }
    else if (status.state?.running)
      this.phase = { is: 'running', startedAt: moment(status.state.running.startedAt) }
    else if (status.state?.waiting) {
      const { reason = '', message } = status.state.waiting
      this.phase = { is: 'waiting', reason, ...(message && { message }), ...(this.last && { until: 0 }) }
    }
  }
}

function endedOf(state: ContainerState | undefined): Ended | undefined {
  const ended = state?.terminated
  if (!ended) return undefined
  const { exitCode = 0, message } = ended
  return {
    startedAt: moment(ended.startedAt),
    finishedAt: moment(ended.finishedAt),
    exitCode,
    ...(message && { message }),
  }
}

function moment(text: string | null | undefined): number {
  return text ? Date.parse(text) : 0
}
