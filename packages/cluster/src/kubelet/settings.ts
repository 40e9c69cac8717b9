// SPDX-License-Identifier: Apache-2.0

import { parseDuration } from '@grove/apimachinery'
import type { Pod } from '../controllers/kinds.ts'

/** Default durations for pods without annotations. */
export interface KubeletSettings {
  /** From the binding until the pod has an address and its first container starts. */
  readonly startMs: number
  /** The run time of each simulated init container. */
  readonly initMs: number
  /**
   * From the start of a container with a readiness probe until the probe succeeds. Other containers are ready
   * at once.
   */
  readonly readyMs: number
  /** From the stop request until the containers have ended. The grace period limits it. */
  readonly stopMs: number
}

export const defaultKubeletSettings: KubeletSettings = { startMs: 50, initMs: 50, readyMs: 100, stopMs: 50 }

const prefix = 'simulate.grove.io/'

/** The simulated behaviour of one container. */
export interface ContainerScript {
  /** Undefined: runs until it is stopped. */
  readonly runMs: number | undefined
  /** The exit code; undefined if no annotation sets it. */
  readonly exitCode: number | undefined
  /** The termination message. */
  readonly message: string | undefined
  /** False: its liveness probe fails, if it has one. */
  readonly live: boolean
  readonly readyMs: number
  /** False: never ready. */
  readonly ready: boolean
}

/** The simulated behaviour of a pod, from its annotations. */
export interface PodScript {
  readonly startMs: number
  readonly stopMs: number
  /** The active deadline of the pod's spec. */
  readonly activeMs: number | undefined
  /** `crash`: its containers exit with an error after every start. `exit`: the pod becomes Failed. */
  readonly fail: 'crash' | 'exit' | undefined
  /** The image cannot be pulled. */
  readonly imageMissing: boolean
  container(name: string, kind: 'init' | 'sidecar' | 'main', hasProbe: boolean): ContainerScript
}

/**
 * Reads the annotations of a pod: `start-delay`, `init-delay`, `ready-delay`, `stop-delay`, `run-time`
 * (durations such as `1.5s`), `exit-code`, `message` (termination message), `ready` and `live` (`"false"`:
 * the probe fails), `fail` (`crash`, `exit`), `image` (`missing`). A suffix of `.` and a container name
 * limits an annotation to that container: `run-time.server`. Invalid values are ignored, because a real
 * cluster would run such a pod too.
 */
export function podScript(pod: Pod, defaults: KubeletSettings): PodScript {
  const annotations = pod.metadata?.annotations ?? {}
  const text = (name: string, container?: string): string | undefined =>
    (container === undefined ? undefined : annotations[`${prefix}${name}.${container}`]) ??
    annotations[prefix + name]
  const span = (name: string, container?: string) => milliseconds(text(name, container))
  const fail = text('fail')
  return {
    startMs: span('start-delay') ?? defaults.startMs,
    stopMs: span('stop-delay') ?? defaults.stopMs,
    activeMs:
      pod.spec?.activeDeadlineSeconds === undefined ? undefined : pod.spec.activeDeadlineSeconds * 1_000,
    fail: fail === 'crash' || fail === 'exit' ? fail : undefined,
    imageMissing: text('image') === 'missing',
    container(name, kind, hasProbe) {
      const own = (key: string) => annotations[`${prefix}${key}.${name}`]
      if (kind === 'init')
        return {
          runMs: milliseconds(own('run-time')) ?? span('init-delay') ?? defaults.initMs,
          exitCode: integer(own('exit-code')),
          message: own('message'),
          live: true,
          readyMs: 0,
          ready: true,
        }
      return {
        runMs: kind === 'sidecar' ? milliseconds(own('run-time')) : span('run-time', name),
        exitCode: integer(kind === 'sidecar' ? own('exit-code') : text('exit-code', name)),
        message: kind === 'sidecar' ? own('message') : text('message', name),
        live: text('live', name) !== 'false',
        readyMs: span('ready-delay', name) ?? (hasProbe ? defaults.readyMs : 0),
        ready: text('ready', name) !== 'false',
      }
    },
  }
}

function milliseconds(text: string | undefined): number | undefined {
  const duration = text === undefined ? undefined : parseDuration(text)
  return duration?.ok ? Number(duration.nanoseconds) / 1e6 : undefined
}

function integer(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,3}$/.test(text) ? Number(text) : undefined
}
