// SPDX-License-Identifier: Apache-2.0

import type { OperatorConfiguration } from '@grove/api'
import type { Clock } from '@grove/kube'
import type { EventSink } from './apply/intent.ts'
import type { RemovalsUnderWay } from './apply/removals-under-way.ts'
import type { StatusDebounce } from './apply/status-debounce.ts'
import type { Caches } from './caches/caches.ts'
import type { SchedulerBackends } from './schedulers/registry.ts'

export interface OperatorContext {
  readonly caches: Caches
  readonly clock: Clock
  readonly configuration: OperatorConfiguration
  readonly backends: SchedulerBackends
  /** Image of the start-up waiter with its tag. */
  readonly waiterImage: string | undefined
  readonly events: EventSink
  readonly statusDebounce: StatusDebounce
  readonly removals: RemovalsUnderWay
}
