// SPDX-License-Identifier: Apache-2.0

import { combined, nothingDone, type Outcome } from '../apply/execute.ts'
import { ComponentFailed, failuresOf } from '../errors/coded-error.ts'
import type { Component } from './child-component.ts'

export interface Components {
  /** Parts of one group run side by side, each to its end. A failure in a group stops the groups after it. */
  readonly groups: readonly (readonly Component[])[]
  /** The processes in pods need these, the pods do not: they begin after the first group and hold nothing up. */
  readonly alongside: readonly Component[]
}

/** Returns every failure. After an earlier failure only the first group runs. */
export async function syncComponents(
  { groups: [first = [], ...rest], alongside }: Components,
  failedBefore: boolean,
): Promise<Outcome> {
  const outcome = await runGroup(first)
  if (failedBefore || outcome.failures.length) return outcome
  return combined([outcome, ...(await Promise.all([runGroups(rest), runGroup(alongside)]))])
}

async function runGroups(groups: readonly (readonly Component[])[]): Promise<Outcome> {
  const outcomes: Outcome[] = []
  for (const group of groups) {
    const outcome = await runGroup(group)
    outcomes.push(outcome)
    if (outcome.failures.length) break
  }
  return combined(outcomes)
}

async function runGroup(group: readonly Component[]): Promise<Outcome> {
  return combined(await Promise.all(group.map(run)))
}

async function run({ name, run: begin, next }: Component): Promise<Outcome> {
  let outcome: Outcome = nothingDone
  const thrown = await failuresOf(
    begin().then(reached => {
      outcome = reached
    }),
  )
  const failures = [...thrown, ...outcome.failures].map(failure => new ComponentFailed(name, failure))
  if (failures.length) return { ...outcome, failures }
  return next ? combined([outcome, await run(next)]) : outcome
}
