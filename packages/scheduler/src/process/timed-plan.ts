// SPDX-License-Identifier: Apache-2.0

import { type Clock, histogram, type Registry } from '@grove/kube'
import type { Plan } from '../types.ts'
import { schedulerCatalogue } from './metrics-catalogue.ts'

/** Wraps the planner and records its duration as a metric. */
export function timedPlan(plan: Plan, registry: Registry, clock: Clock): Plan {
  const duration = histogram(registry, schedulerCatalogue.duration)
  return (snapshot, policy, now) => {
    const began = clock.monotonic()
    try {
      return plan(snapshot, policy, now)
    } finally {
      duration.observe((clock.monotonic() - began) / 1000)
    }
  }
}
