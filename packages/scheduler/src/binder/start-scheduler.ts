// SPDX-License-Identifier: Apache-2.0

// The gang scheduler on a client, in this process: for `grove up`, for tests, and for the scheduler process.
import {
  type Client,
  type Clock,
  discover,
  type Logger,
  type Registry,
  resourceName,
  silentLogger,
  systemClock,
} from '@grove/kube'
import { plan as exactPlan } from '../plan.ts'
import { defaultPolicy } from '../policy.ts'
import { defaultSchedulerName } from '../snapshot/index.ts'
import type { Decision, Plan, Policy } from '../types.ts'
import { SchedulerCaches } from './caches.ts'
import { GangScheduler } from './gang-scheduler.ts'
import type { GangEvents } from './gang-writes.ts'
import type { Rejection } from './rejected-pods.ts'

export const defaultBindTimeoutMs = 30_000

export interface SchedulerStartOptions {
  readonly clock?: Clock
  readonly log?: Logger
  readonly registry?: Registry
  readonly events?: GangEvents
  readonly policy?: Policy
  readonly plan?: Plan
  readonly schedulerName?: string
  readonly bindTimeoutMs?: number
  readonly onDecision?: (decision: Decision) => void
  readonly onRejection?: (rejection: Rejection) => void
}

export interface RunningScheduler {
  readonly caches: SchedulerCaches
  /** Lets bindings in flight finish, then ends the watches. */
  stop(): Promise<void>
  /** Drops everything where it is, requests in flight included. */
  abandon(): Promise<void>
}

export async function startScheduler(
  client: Client,
  options: SchedulerStartOptions = {},
): Promise<RunningScheduler> {
  const { clock = systemClock, log = silentLogger } = options
  const served = new Set((await discover(client)).map(resourceName))
  const caches = new SchedulerCaches(client, {
    clock,
    serves: resource => served.has(resourceName(resource)),
    onFailure: (resource, error, retryInMs) =>
      log.error('Watch failed, retrying', { resource, error, retryInMs: Math.round(retryInMs) }),
  })
  const abort = new AbortController()
  const watching = caches.run(abort.signal)
  await caches.waitForSync(abort.signal)
  const scheduler = new GangScheduler({
    client,
    caches,
    clock,
    log,
    plan: options.plan ?? exactPlan,
    policy: options.policy ?? defaultPolicy,
    schedulerName: options.schedulerName ?? defaultSchedulerName,
    bindTimeoutMs: options.bindTimeoutMs ?? defaultBindTimeoutMs,
    ...(options.registry && { registry: options.registry }),
    ...(options.events && { events: options.events }),
    ...(options.onDecision && { onDecision: options.onDecision }),
    ...(options.onRejection && { onRejection: options.onRejection }),
  })
  await scheduler.start(abort.signal)
  return {
    caches,
    stop: async () => {
      await scheduler.stop()
      abort.abort()
      await watching
    },
    abandon: async () => {
      abort.abort(new Error('the scheduler was abandoned'))
      await scheduler.stop()
      await watching
    },
  }
}
