// SPDX-License-Identifier: Apache-2.0

import type { EventValue, OperatorConfiguration } from '@grove/api'
import type { Clock, KubeObject } from '@grove/kube'
import type { SchedulerBackends } from './backends/registry.ts'
import type { RemovalsUnderWay } from './removals-under-way.ts'
import type { StatusDebounce } from './status-debounce.ts'
import type { World } from './world.ts'

/** Where events go. Never blocks and never fails: an event is not worth a pass. */
export interface EventSink {
  emit(about: KubeObject, source: string, event: EventValue): void
}

export interface OperatorContext {
  readonly world: World
  readonly clock: Clock
  readonly configuration: OperatorConfiguration
  readonly backends: SchedulerBackends
  /** Image of the start-up waiter with its tag. */
  readonly waiterImage: string | undefined
  readonly events: EventSink
  readonly statusDebounce: StatusDebounce
  readonly removals: RemovalsUnderWay
}

/** The moment as objects carry it: RFC 3339, whole seconds. */
export function timestamp(clock: Clock): string {
  return `${new Date(clock.now()).toISOString().slice(0, 19)}Z`
}
