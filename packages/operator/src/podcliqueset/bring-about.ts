// SPDX-License-Identifier: Apache-2.0

import { ComponentFailed, failuresOf } from '../coded-error.ts'
import type { Component } from './child-component.ts'

export interface Components {
  /** Parts of one group run side by side, each to its end; a failure in a group stops the groups after it. */
  readonly groups: readonly (readonly Component[])[]
  /** What runs in pods needs these, not the pods: they begin after the first group and hold nothing up. */
  readonly beside: readonly Component[]
}

/** Returns every failure. After an earlier one only the first group runs. */
export async function bringAbout(
  { groups: [first = [], ...rest], beside }: Components,
  failedBefore: boolean,
): Promise<unknown[]> {
  const failures = await failuresInGroup(first)
  if (failedBefore || failures.length) return failures
  return (await Promise.all([failuresInGroups(rest), failuresInGroup(beside)])).flat()
}

async function failuresInGroups(groups: readonly (readonly Component[])[]): Promise<unknown[]> {
  for (const group of groups) {
    const failures = await failuresInGroup(group)
    if (failures.length) return failures
  }
  return []
}

async function failuresInGroup(group: readonly Component[]): Promise<unknown[]> {
  return (await Promise.all(group.map(failuresIn))).flat()
}

async function failuresIn({ name, run, next }: Component): Promise<unknown[]> {
  const failures = await failuresOf(run())
  if (failures.length) return failures.map(one => new ComponentFailed(name, one))
  return next ? failuresIn(next) : []
}
