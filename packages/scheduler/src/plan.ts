// SPDX-License-Identifier: Apache-2.0
import { FixAllowance } from './explain/fixes/allowance.ts'
import { explain } from './explain/index.ts'
import { missingGangs } from './explain/missing-gangs.ts'
import { planWith } from './planner/plan.ts'
import type { Decision, Gang, Policy, Snapshot } from './types.ts'

/**
 * Decides for all gangs. Reads no clock, no random source and no API. `now` is in milliseconds since 1970. Fixes are
 * searched only for the gangs that `isAsked` selects: the search has a bounded amount of work for all of them.
 */
export function plan(
  snapshot: Snapshot,
  policy: Policy,
  now: number,
  isAsked: (gang: Gang) => boolean = () => true,
): Decision {
  const allowance = new FixAllowance()
  const decision = planWith(
    (cycle, index) => explain(cycle, index, policy, now, allowance, isAsked),
    snapshot,
    policy,
    now,
  )
  return { ...decision, missingGangs: missingGangs(snapshot, now) }
}
