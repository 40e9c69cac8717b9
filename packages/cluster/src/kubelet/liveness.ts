// SPDX-License-Identifier: Apache-2.0

import type { SimulatedContainer } from './container.ts'

/** Killed by signal 9. */
export const killedExitCode = 137

const defaultPeriodSeconds = 10
const defaultFailureThreshold = 3

/** The time and the exit code of a container's end. */
export interface End {
  readonly at: number
  readonly exitCode: number
  readonly message?: string
  /** True if the liveness probe failed. */
  readonly livenessFailed?: boolean
}

/**
 * Returns the time at which a container is killed if its liveness probe fails from now on; never without a
 * probe.
 */
export function livenessEnd(container: SimulatedContainer, now: number, startedAt: number): End | undefined {
  const { livenessProbe: probe } = container.spec
  if (!probe) return undefined
  container.livenessFailingSince ??= now
  const firstProbe = startedAt + (probe.initialDelaySeconds ?? 0) * 1_000
  const failures = probe.failureThreshold || defaultFailureThreshold
  const toleratedMs = failures * (probe.periodSeconds || defaultPeriodSeconds) * 1_000
  return {
    at: Math.max(container.livenessFailingSince, firstProbe) + toleratedMs,
    exitCode: killedExitCode,
    livenessFailed: true,
  }
}
