// SPDX-License-Identifier: Apache-2.0

// Creates the operator's controllers on a client: for `grove up`, tests and the operator process.
import { defaultScheduler, enabledSchedulers, type OperatorConfiguration } from '@grove/api'
import { type Client, type Clock, type Logger, type Registry, silentLogger, systemClock } from '@grove/kube'
import type { EventSink } from '../apply/intent.ts'
import { Caches } from '../caches/caches.ts'
import { optionalKinds } from '../caches/optional-kinds.ts'
import { Memory } from '../memory/memory.ts'
import { Operator } from '../operator.ts'
import { schedulerBackends } from '../schedulers/registry.ts'

/** The kinds of optional APIs that the cluster serves. */
export type Watches = Awaited<ReturnType<typeof optionalKinds>>

export interface StartOptions {
  readonly configuration: OperatorConfiguration
  readonly waiterImage?: string | undefined
  readonly events?: EventSink
  readonly clock?: Clock
  readonly log?: Logger
  readonly registry?: Registry
}

export interface RunningOperator {
  readonly caches: Caches
  /** Waits for running reconciles, then ends the watches. */
  stop(): Promise<void>
  /** Stops at once and aborts requests in flight. */
  abandon(): Promise<void>
}

const noEvents: EventSink = { emit: () => undefined }

/** Creates the controllers and their caches. Neither runs yet. */
export function createOperator(
  client: Client,
  watches: Watches,
  options: StartOptions,
): { readonly operator: Operator; readonly caches: Caches } {
  const { configuration, clock = systemClock, log = silentLogger } = options
  const cacheLog = log.child({ area: 'caches' })
  const caches = new Caches(client, {
    clock,
    watches,
    onFailure: (resource, error, retryInMs) =>
      cacheLog.error('Watch failed, retrying', { resource, error, retryInMs: Math.round(retryInMs) }),
  })
  const operator = new Operator({
    context: {
      caches,
      clock,
      configuration,
      backends: schedulerBackends([...enabledSchedulers(configuration)], defaultScheduler(configuration)),
      waiterImage: options.waiterImage,
      memory: new Memory(caches, clock),
      events: options.events ?? noEvents,
    },
    log,
    ...(options.registry && { registry: options.registry }),
  })
  return { operator, caches }
}

export async function startOperator(client: Client, options: StartOptions): Promise<RunningOperator> {
  const watches = await optionalKinds(client, options.configuration, options.log ?? silentLogger)
  const { operator, caches } = createOperator(client, watches, options)
  const abort = new AbortController()
  const watching = caches.run(abort.signal)
  await caches.waitForSync(abort.signal)
  await operator.start(abort.signal)
  return {
    caches,
    stop: async () => {
      await operator.stop()
      abort.abort()
      await watching
    },
    abandon: async () => {
      abort.abort(new Error('the operator was abandoned'))
      await operator.stop()
      await watching
    },
  }
}
