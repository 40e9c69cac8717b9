// SPDX-License-Identifier: Apache-2.0

import type { OperatorConfiguration } from '@grove/api'
import type { Clock } from '@grove/kube'
import type { DecisionSink } from './apply/decisions.ts'
import type { EventSink } from './apply/intent.ts'
import type { Caches } from './caches/caches.ts'
import type { Memory } from './memory/memory.ts'
import type { SchedulerBackends } from './schedulers/registry.ts'

export interface OperatorContext {
  readonly caches: Caches
  readonly clock: Clock
  readonly configuration: OperatorConfiguration
  readonly backends: SchedulerBackends
  /** Image of the start-up waiter with its tag. */
  readonly waiterImage: string | undefined
  readonly events: EventSink
  /** Absent if decisions are neither logged nor counted. */
  readonly decisions?: DecisionSink
  /** State that is neither in the API nor in the caches. */
  readonly memory: Memory
}
