// SPDX-License-Identifier: Apache-2.0

// The load of the operator process during a part of a benchmark, from its metrics.
import type { OperatorProcess } from '@grove/test-scenarios'

export interface OperatorLoad {
  readonly cpuSeconds: number
  /** Longest delay of its event loop. */
  readonly longestStallSeconds: number
  readonly requests: number
  /** Requests by verb, resource and status code. */
  readonly requestsBy: Readonly<Record<string, number>>
  readonly meanRequestSeconds: number
  readonly meanQueueSeconds: number
}

/** Starts counting. The result returns the load since then. */
export async function operatorLoad(operator: OperatorProcess): Promise<() => Promise<OperatorLoad>> {
  const before = totals(await operator.metrics())
  const cpu = operator.cpuSeconds()
  return async () => {
    const after = totals(await operator.metrics())
    const [requests, waits] = [after.requests - before.requests, after.queueWaits - before.queueWaits]
    return {
      cpuSeconds: operator.cpuSeconds() - cpu,
      longestStallSeconds: after.longestStall,
      requests,
      requestsBy: increase(before.requestsBy, after.requestsBy),
      meanRequestSeconds: (after.requestSeconds - before.requestSeconds) / requests,
      meanQueueSeconds: (after.queueSeconds - before.queueSeconds) / waits,
    }
  }
}

function increase(before: ReadonlyMap<string, number>, after: ReadonlyMap<string, number>) {
  return Object.fromEntries(
    [...after]
      .map(([request, count]) => [request, count - (before.get(request) ?? 0)] as const)
      .filter(([, count]) => count > 0)
      .sort(([, one], [, other]) => other - one),
  )
}

function requestsBy(metrics: string): Map<string, number> {
  const series = /^rest_client_resource_requests_total\{([^}]*)\} (\S+)$/gm
  return new Map(
    metrics.matchAll(series).map(([, labels = '', count]) => {
      const value = (name: string) => new RegExp(`${name}="([^"]*)"`).exec(labels)?.[1]
      return [`${value('verb')} ${value('resource')} ${value('code')}`, Number(count)]
    }),
  )
}

function totals(metrics: string) {
  const sum = (name: string) =>
    metrics
      .matchAll(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'gm'))
      .reduce((total, [, value]) => total + Number(value), 0)
  return {
    /** The process resets this metric with every response. */
    longestStall: sum('nodejs_eventloop_lag_max_seconds'),
    requests: sum('rest_client_request_duration_seconds_count'),
    requestSeconds: sum('rest_client_request_duration_seconds_sum'),
    requestsBy: requestsBy(metrics),
    queueWaits: sum('workqueue_queue_duration_seconds_count'),
    queueSeconds: sum('workqueue_queue_duration_seconds_sum'),
  }
}
