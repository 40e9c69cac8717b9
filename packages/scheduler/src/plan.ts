// SPDX-License-Identifier: Apache-2.0
import { planWith } from './planner/plan.ts'
import type { Decision, Explanation, Policy, Snapshot } from './types.ts'

/** Decides for all gangs. Reads no clock, no random source and no API. `now` is in milliseconds since 1970. */
export function plan(snapshot: Snapshot, policy: Policy, now: number): Decision {
  return planWith(() => ({}) as Explanation, snapshot, policy, now)
}
