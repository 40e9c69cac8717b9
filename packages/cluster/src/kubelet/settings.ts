// SPDX-License-Identifier: Apache-2.0

import { parseDuration } from '@grove/apimachinery'
import type { Pod } from '../controllers/kinds.ts'

/** How long things take and how they end, for pods whose annotations do not say. */
export interface KubeletSettings {
  /** From the binding until the pod has an address and its first container starts. */
  readonly startMs: number
  /** What each init container runs, unless something really runs it. */
  readonly initMs: number
  /** From the start of a container with a readiness probe until the probe succeeds; others are ready at once. */
  readonly readyMs: number
  /** From the request to stop until the containers have ended; the grace period ends it in any case. */
  readonly stopMs: number
}

export const defaultKubeletSettings: KubeletSettings = { startMs: 50, initMs: 50, readyMs: 100, stopMs: 50 }

/** Annotations begin with this, unless the kubelet is told otherwise. */
export const defaultAnnotationPrefix = 'simulate.grove.io/'

/** What one container of a pod is to do. */
export interface ContainerScript {
  /** Undefined: runs until it is stopped. */
  readonly runMs: number | undefined
  /** With which it ends; undefined where nothing was said. */
  readonly exitCode: number | undefined
  /** What it leaves in its termination message. */
  readonly message: string | undefined
  /** False: its liveness probe fails, if it has one. */
  readonly live: boolean
  readonly readyMs: number
  /** False: not ready, whatever the time. */
  readonly ready: boolean
}

/** What a pod is to do, as its annotations say. */
export interface PodScript {
  readonly startMs: number
  readonly stopMs: number
  /** How long the pod may be active, as its spec says. */
  readonly activeMs: number | undefined
  /** `crash`: its containers end with an error as often as they start. `exit`: it ends as Failed. */
  readonly fail: 'crash' | 'exit' | undefined
  /** The image cannot be had. */
  readonly imageMissing: boolean
  container(name: string, kind: 'init' | 'sidecar' | 'main', hasProbe: boolean): ContainerScript
}

/**
 * Reads the annotations of a pod: `start-delay`, `init-delay`, `ready-delay`, `stop-delay`, `run-time` (durations such
 * as `1.5s`), `exit-code`, `message` (why it ended), `ready` and `live` (`"false"`: the probe fails), `fail` (`crash`,
 * `exit`), `image` (`missing`). With `.` and the name of a container behind it, an annotation is about that container
 * only: `run-time.server`. What cannot be read counts as not given: a simulation must not refuse what a cluster would run.
 */
export function podScript(pod: Pod, defaults: KubeletSettings, prefix: string): PodScript {
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
