// SPDX-License-Identifier: Apache-2.0

import type { Stored } from '@grove/kube'
import { absolute } from '../deployments/rollout.ts'
import type { Pod, PodDisruptionBudget } from '../kinds.ts'
import { isActive, isReady } from '../pod-state.ts'

/** An allowed eviction that did not happen within this time no longer counts. */
const disruptionTimeoutMs = 120_000

export interface Allowance {
  readonly expectedPods: number
  readonly desiredHealthy: number
  readonly currentHealthy: number
  readonly disruptionsAllowed: number
  readonly disruptedPods: Readonly<Record<string, string>>
  /** The time at which the next allowed eviction expires. */
  readonly nextChange: number | undefined
}

/**
 * Computes how many pods of a budget may be evicted now. Pure. `expected` is the number that their
 * controllers want.
 */
export function allowance(
  budget: PodDisruptionBudget,
  pods: readonly Stored<Pod>[],
  expected: number,
  now: number,
): Allowance {
  const { disruptedPods, nextChange } = pendingDisruptions(budget, pods, now)
  const desiredHealthy = desired(budget, expected)
  const currentHealthy = pods.filter(
    pod => isActive(pod) && isReady(pod) && disruptedPods[pod.metadata.name] === undefined,
  ).length
  const disruptionsAllowed = expected > 0 ? Math.max(0, currentHealthy - desiredHealthy) : 0
  return {
    expectedPods: expected,
    desiredHealthy,
    currentHealthy,
    disruptionsAllowed,
    disruptedPods,
    nextChange,
  }
}

/**
 * Reports whether the expected number comes from the controllers. An absolute minAvailable counts existing
 * pods instead.
 */
export function needsControllers({ spec }: PodDisruptionBudget): boolean {
  return spec?.maxUnavailable !== undefined || typeof spec?.minAvailable === 'string'
}

function desired({ spec }: PodDisruptionBudget, expected: number): number {
  if (spec?.maxUnavailable !== undefined)
    return Math.max(0, expected - absolute(spec.maxUnavailable, expected, Math.ceil))
  return absolute(spec?.minAvailable ?? 0, expected, Math.ceil)
}

/** Allowed evictions whose pods are not deleted yet. */
function pendingDisruptions(budget: PodDisruptionBudget, pods: readonly Stored<Pod>[], now: number) {
  const disruptedPods: Record<string, string> = {}
  let nextChange: number | undefined
  for (const [name, time] of Object.entries(budget.status?.disruptedPods ?? {})) {
    const pod = pods.find(({ metadata }) => metadata.name === name)
    const until = Date.parse(time ?? '') + disruptionTimeoutMs
    if (!pod || pod.metadata.deletionTimestamp || now >= until) continue
    disruptedPods[name] = time ?? ''
    if (nextChange === undefined || until < nextChange) nextChange = until
  }
  return { disruptedPods, nextChange }
}
