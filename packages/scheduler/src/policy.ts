// SPDX-License-Identifier: Apache-2.0
import type { Policy } from './types.ts'

export const defaultPolicy: Policy = {
  replicaScope: 'Prefer',
  preemption: 'Disabled',
  reservation: undefined,
  budget: { gang: 2_000_000, cycle: 20_000_000 },
  fixes: true,
}
