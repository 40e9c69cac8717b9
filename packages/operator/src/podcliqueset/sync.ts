// SPDX-License-Identifier: Apache-2.0

import type { Progress } from '../apply/writes.ts'
import { ComponentFailed, failuresOf } from '../errors/coded-error.ts'
import type { Component } from './child-component.ts'

export interface Components {
  /** Parts of one group run side by side, each to its end; a failure in a group stops the groups after it. */
  readonly groups: readonly (readonly Component[])[]
  /** What runs in pods needs these, not the pods: they begin after the first group and hold nothing up. */
  readonly beside: readonly Component[]
}

export interface Outcome {
  readonly failures: readonly unknown[]
  /** Whether a part has more to create than one reconcile does. */
  readonly hasMore: boolean
}

const nothing: Outcome = { failures: [], hasMore: false }

/** Returns every failure. After an earlier one only the first group runs. */
export async function syncComponents(
  { groups: [first = [], ...rest], beside }: Components,
  failedBefore: boolean,
): Promise<Outcome> {
  const outcome = await runGroup(first)
  if (failedBefore || outcome.failures.length) return outcome
  return combined([outcome, ...(await Promise.all([runGroups(rest), runGroup(beside)]))])
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
  let progress: Progress = 'complete'
  const failures = await failuresOf(
    begin().then(reached => {
      progress = reached
    }),
  )
  if (failures.length) return { ...nothing, failures: failures.map(one => new ComponentFailed(name, one)) }
  const outcome = { ...nothing, hasMore: (progress as Progress) === 'more' }
  return next ? combined([outcome, await run(next)]) : outcome
}

function combined(outcomes: readonly Outcome[]): Outcome {
  return {
    failures: outcomes.flatMap(({ failures }) => failures),
    hasMore: outcomes.some(({ hasMore }) => hasMore),
  }
}
