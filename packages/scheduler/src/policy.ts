// SPDX-License-Identifier: Apache-2.0
import type { Policy } from './types.ts'

export const defaultPolicy: Policy = {
  replicaScope: 'Prefer',
  preemption: 'Disabled',
  reservation: undefined,
  budget: { gang: 2_000_000, cycle: 20_000_000 },
  fixes: true,
}

/** Settings that the planner does not implement yet. A process must reject them instead of running without them. */
export function unsupportedSettings(policy: Policy): string[] {
  return [
    ...(policy.replicaScope === 'Require' ? ['replicaScope: Require'] : []),
    ...(policy.preemption === 'Enabled' ? ['preemption: Enabled'] : []),
    ...(policy.reservation ? ['reservation'] : []),
  ]
}
