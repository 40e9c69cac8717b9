// SPDX-License-Identifier: Apache-2.0

// Computes the replicas that one metric recommends. Pure.

/** A pod of the target, with its usage if known. */
export interface Sample {
  readonly usage: number | undefined
  /** The request of the resource, for utilization. */
  readonly request: number
  readonly ready: boolean
}

export interface Recommendation {
  readonly replicas: number
  /** The average of the counted pods. */
  readonly average: number
  /** In percent of the request. Only for utilization. */
  readonly utilization?: number
}

/** Deviations within a tenth of the target are ignored. */
const defaultTolerance = 0.1

/** A target per pod: a percentage of its request, or an amount. */
export type PodTarget = { readonly utilization: number } | { readonly amount: number }

/**
 * Returns the replicas for which the average would meet the target. Pods without a value or not ready yet
 * must not cause scaling. They count as at the target when scaling down, and as idle when scaling up.
 */
export function recommendForPods(
  samples: readonly Sample[],
  target: PodTarget,
  current: number,
  tolerance = defaultTolerance,
): Recommendation | string {
  if (samples.length === 0) return 'no pods returned by selector while calculating replica count'
  const known = samples.filter(({ usage, ready }) => usage !== undefined && ready)
  if (known.length === 0) return 'did not receive metrics for targeted pods (pods might be unready)'
  const missing = samples.filter(({ usage }) => usage === undefined)
  const unready = samples.filter(({ usage, ready }) => usage !== undefined && !ready)
  const counted = known.map(({ usage = 0, request }) => ({ usage, request }))
  if ('utilization' in target && counted.some(({ request }) => request === 0)) return 'missing request'
  const ratio = ratioOf(counted, target)
  const average = Math.floor(counted.reduce((sum, { usage }) => sum + usage, 0) / counted.length)
  const shown = {
    average,
    ...('utilization' in target && { utilization: Math.floor(ratio * target.utilization + 1e-9) }),
  }
  const isWithin = (value: number) => Math.abs(value - 1) <= tolerance + 1e-9
  const countUnready = unready.length > 0 && ratio > 1
  if (missing.length === 0 && !countUnready) {
    const replicas = isWithin(ratio) ? current : Math.ceil(ratio * known.length - 1e-9)
    return { replicas, ...shown }
  }
  const idle = (pods: readonly Sample[]) => pods.map(({ request }) => ({ usage: 0, request }))
  const atTarget = missing.map(({ request }) => ({ usage: targetOf(target, request), request }))
  const all = [...counted, ...(ratio < 1 ? atTarget : idle(missing)), ...(countUnready ? idle(unready) : [])]
  const cautious = ratioOf(all, target)
  const turns = ratio < 1 !== cautious < 1 && cautious !== 1
  if (isWithin(cautious) || turns) return { replicas: current, ...shown }
  const replicas = Math.ceil(cautious * all.length - 1e-9)
  const isBackwards = cautious < 1 ? replicas > current : replicas < current
  return { replicas: isBackwards ? current : replicas, ...shown }
}

function ratioOf(pods: readonly { usage: number; request: number }[], target: PodTarget): number {
  const usage = pods.reduce((sum, pod) => sum + pod.usage, 0)
  const wanted = pods.reduce((sum, { request }) => sum + targetOf(target, request), 0)
  return wanted === 0 ? 1 : usage / wanted
}

function targetOf(target: PodTarget, request: number): number {
  return 'utilization' in target ? (request * target.utilization) / 100 : target.amount
}

/** One value for the whole target: scales in proportion to the ratio of value and target. */
export function recommendForValue(
  value: number,
  target: number,
  readyPods: number,
  current: number,
  tolerance = defaultTolerance,
): number {
  const ratio = value / target
  if (current === 0) return Math.ceil(ratio - 1e-9)
  return Math.abs(ratio - 1) <= tolerance + 1e-9 ? current : Math.ceil(ratio * readyPods - 1e-9)
}

/** One value that is divided among the replicas, with a target per replica. */
export function recommendForShare(
  value: number,
  target: number,
  replicas: number,
  tolerance = defaultTolerance,
): number {
  const ratio = value / (target * replicas)
  return Math.abs(ratio - 1) <= tolerance + 1e-9 ? replicas : Math.ceil(value / target - 1e-9)
}
