// SPDX-License-Identifier: Apache-2.0

// Limits how fast a recommendation is applied. Pure.

import type { AutoscalingV2HPAScalingRules } from '../../schema/types.generated.ts'
import type { Verdict } from '../conditions.ts'
import type { HorizontalPodAutoscaler } from '../kinds.ts'

export interface Recommended {
  readonly at: number
  readonly replicas: number
}

/** A past change of replicas: positive up, negative down. */
export interface Scaled {
  readonly at: number
  readonly change: number
}

export interface Limited {
  readonly replicas: number
  readonly ableToScale: Verdict
  readonly scalingLimited: Verdict
}

type Rules = Required<
  Pick<AutoscalingV2HPAScalingRules, 'selectPolicy' | 'policies' | 'stabilizationWindowSeconds'>
>

const defaultUp: Rules = {
  stabilizationWindowSeconds: 0,
  selectPolicy: 'Max',
  policies: [
    { type: 'Pods', value: 4, periodSeconds: 15 },
    { type: 'Percent', value: 100, periodSeconds: 15 },
  ],
}
const defaultDown: Rules = {
  stabilizationWindowSeconds: 300,
  selectPolicy: 'Max',
  policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }],
}

/** The maximum time for which recommendations and changes are needed. */
export const longestMemoryMs = 3_600_000

export function limitScaling(
  { spec }: Pick<HorizontalPodAutoscaler, 'spec'>,
  current: number,
  desired: number,
  recommended: readonly Recommended[],
  scaled: readonly Scaled[],
  now: number,
): Limited {
  const up = { ...defaultUp, ...given(spec?.behavior?.scaleUp) }
  const down = { ...defaultDown, ...given(spec?.behavior?.scaleDown) }
  const stable = stabilize(current, desired, recommended, up, down, now)
  const { replicas, reason, message } = bound(spec, current, stable, up, down, scaled, now)
  const isHeld = stable !== desired
  return {
    replicas,
    ableToScale: {
      type: 'AbleToScale',
      status: 'True',
      reason: isHeld ? (stable > desired ? 'ScaleDownStabilized' : 'ScaleUpStabilized') : 'ReadyForNewScale',
      message: isHeld
        ? `recent recommendations were ${stable > desired ? 'higher' : 'lower'} than current one, applying the ${stable > desired ? 'highest' : 'lowest'} recent recommendation`
        : 'recommended size matches current size',
    },
    scalingLimited: {
      type: 'ScalingLimited',
      status: reason === 'DesiredWithinRange' ? 'False' : 'True',
      reason,
      message,
    },
  }
}

function given(rules: AutoscalingV2HPAScalingRules | undefined): Partial<Rules> {
  if (!rules) return {}
  const { selectPolicy, policies, stabilizationWindowSeconds } = rules
  return {
    ...(selectPolicy && { selectPolicy }),
    ...(policies?.length && { policies }),
    ...(stabilizationWindowSeconds !== undefined && { stabilizationWindowSeconds }),
  }
}

/** Scales down to the highest recommendation of the window, and up to the lowest one. */
function stabilize(
  current: number,
  desired: number,
  recommended: readonly Recommended[],
  up: Rules,
  down: Rules,
  now: number,
): number {
  let lowest = desired
  let highest = desired
  for (const { at, replicas } of recommended) {
    if (now - at < up.stabilizationWindowSeconds * 1_000) lowest = Math.min(lowest, replicas)
    if (now - at < down.stabilizationWindowSeconds * 1_000) highest = Math.max(highest, replicas)
  }
  return Math.min(Math.max(current, lowest), highest)
}

function bound(
  spec: HorizontalPodAutoscaler['spec'],
  current: number,
  wanted: number,
  up: Rules,
  down: Rules,
  scaled: readonly Scaled[],
  now: number,
): { readonly replicas: number; readonly reason: string; readonly message: string } {
  const least = spec?.minReplicas ?? 1
  const most = spec?.maxReplicas ?? 1
  const fine = { reason: 'DesiredWithinRange', message: 'the desired count is within the acceptable range' }
  if (wanted > current) {
    const limit = upLimit(current, up, scaled, now)
    if (wanted > Math.min(limit, most)) {
      if (most <= limit)
        return {
          replicas: most,
          reason: 'TooManyReplicas',
          message: 'the desired replica count is more than the maximum replica count',
        }
      return {
        replicas: Math.max(limit, current),
        reason: 'ScaleUpLimit',
        message: 'the desired replica count is increasing faster than the maximum scale rate',
      }
    }
    return { replicas: wanted, ...fine }
  }
  const limit = wanted < current ? downLimit(current, down, scaled, now) : 0
  if (wanted < Math.max(limit, least)) {
    if (least >= limit)
      return {
        replicas: least,
        reason: 'TooFewReplicas',
        message: 'the desired replica count is less than the minimum replica count',
      }
    return {
      replicas: Math.min(limit, current),
      reason: 'ScaleDownLimit',
      message: 'the desired replica count is decreasing faster than the maximum scale rate',
    }
  }
  if (wanted > most)
    return {
      replicas: most,
      reason: 'TooManyReplicas',
      message: 'the desired replica count is more than the maximum replica count',
    }
  return { replicas: wanted, ...fine }
}

function upLimit(
  current: number,
  { selectPolicy, policies }: Rules,
  scaled: readonly Scaled[],
  now: number,
): number {
  if (selectPolicy === 'Disabled') return current
  const limits = policies.map(({ type, value = 0, periodSeconds = 15 }) => {
    const start = current - changeWithin(scaled, periodSeconds, now, change => Math.max(0, change))
    return type === 'Percent' ? Math.ceil(start * (1 + value / 100)) : start + value
  })
  return selectPolicy === 'Min' ? Math.min(...limits) : Math.max(...limits)
}

function downLimit(
  current: number,
  { selectPolicy, policies }: Rules,
  scaled: readonly Scaled[],
  now: number,
): number {
  if (selectPolicy === 'Disabled') return current
  const limits = policies.map(({ type, value = 0, periodSeconds = 15 }) => {
    const start = current - changeWithin(scaled, periodSeconds, now, change => Math.min(0, change))
    return type === 'Percent' ? Math.trunc(start * (1 - value / 100)) : start - value
  })
  return selectPolicy === 'Min' ? Math.max(...limits) : Math.min(...limits)
}

function changeWithin(
  scaled: readonly Scaled[],
  seconds: number,
  now: number,
  part: (change: number) => number,
): number {
  return scaled.reduce((sum, { at, change }) => (now - at < seconds * 1_000 ? sum + part(change) : sum), 0)
}
