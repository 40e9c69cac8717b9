// SPDX-License-Identifier: Apache-2.0

import { Counter, Gauge, type Registry } from '@grove/kube'
import type { Decision } from '../types.ts'

/** Returns the handler that turns decisions into metrics. */
export function decisionMetrics(registry: Registry): (decision: Decision) => void {
  const registers = [registry]
  const decisions = new Counter({
    name: 'grove_scheduler_decisions_total',
    help: 'Decisions about gangs, by verdict',
    labelNames: ['verdict', 'provenance'],
    registers,
  })
  const steps = new Counter({
    name: 'grove_scheduler_steps_total',
    help: 'Steps of the placement search',
    registers,
  })
  const waiting = new Gauge({
    name: 'grove_gangs_waiting',
    help: 'Gangs that wait, by the code and tier of the cause',
    labelNames: ['code', 'tier'],
    registers,
  })
  const bindings = new Counter({
    name: 'grove_scheduler_bindings_total',
    help: 'Pods that were decided to run on a node',
    labelNames: ['part'],
    registers,
  })
  return decision => {
    steps.inc(decision.steps)
    waiting.reset()
    for (const { verdict, provenance, explanation } of decision.gangs) {
      decisions.inc({ verdict, provenance })
      if (explanation) waiting.inc({ code: explanation.code, tier: explanation.tier })
    }
    for (const { part } of decision.bindings) bindings.inc({ part })
  }
}
