// SPDX-License-Identifier: Apache-2.0

import type { Clock } from '@grove/kube'
import type { Random } from '../random.ts'
import type { Registry } from '../registry/registry.ts'
import type { StrategyContext } from '../registry/resource.ts'
import type { Store } from '../store/index.ts'
import type { Admission } from './admission.ts'
import type { Authorizer } from './authorization.ts'
import type { FieldOwnership } from './field-ownership.ts'

export interface ServerContext {
  readonly store: Store
  readonly registry: Registry
  readonly clock: Clock
  readonly random: Random
  readonly admission: Admission
  readonly authorize: Authorizer
  readonly ownership: FieldOwnership
}

/** Formats a time as the API does: whole seconds, UTC. */
export function timestamp(milliseconds: number): string {
  return `${new Date(milliseconds).toISOString().slice(0, 19)}Z`
}

export function strategyContext(context: ServerContext): StrategyContext {
  return { now: timestamp(context.clock.now()), random: context.random, store: context.store }
}
